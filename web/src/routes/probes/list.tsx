import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type KeyboardEvent, memo, useEffect, useRef, useState } from "react";
import { useCaseNames } from "../../api/tables";
import type { CaseName, Run } from "../../api/types";
import { visible } from "../../lib/format";
import { isMetric, METRIC_NAMES, metricText } from "../../lib/metrics";
import { Outcome, type ProbeTable } from "../../lib/probe_table";
import {
  decisionText,
  labelText,
  type Metric,
  type ProbeOrder,
  type Shown,
  valuesOf,
} from "../../lib/probes";
import { isModified, useKeys } from "../../ui/keys";
import styles from "./probes.module.css";
import { SHOWN_NAMES } from "./toolbar";

const ROW_PX = 32;
const HEAD_PX = 34;
/** Browsers do not scroll further than this many rows. */
export const MOST_LISTED = 500_000;

interface ListProps {
  run: Run;
  table: ProbeTable;
  version: number;
  listed: Int32Array;
  names: readonly string[];
  columns: readonly Shown[];
  order: ProbeOrder | undefined;
  sort: (order: ProbeOrder | undefined) => void;
  opened: number | undefined;
  open: (index: number) => void;
}

/**
 * Is a grid by its roles, because only the rows that are seen are drawn. Arrow keys move between rows, Enter opens one.
 */
export function ProbeList({
  run,
  table,
  version,
  listed,
  names,
  columns,
  order,
  sort,
  opened,
  open,
}: ListProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const count = Math.min(listed.length, MOST_LISTED);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    scrollMargin: HEAD_PX,
    scrollPaddingStart: HEAD_PX,
    overscan: 10,
  });
  const [active, activate] = useState(0);
  const [isFocused, focus] = useState(false);
  const position = Math.min(active, count - 1);
  const drawn = rows.getVirtualItems();
  const cases = useCaseNames(
    run.id,
    drawn.map((each) => caseOf(table, listed[each.index] ?? 0)),
  );
  const move = (to: number) => {
    const next = Math.max(0, Math.min(count - 1, to));
    rows.scrollToIndex(next, { align: "auto" });
    focus(true);
    activate(next);
  };
  // The row may be drawn only after it was scrolled to.
  useEffect(() => {
    if (!isFocused) return;
    const row = scroll.current?.querySelector<HTMLElement>('[role="row"][tabindex="0"]');
    if (row && document.activeElement !== row) row.focus({ preventScroll: true });
  });
  const at = opened === undefined ? -1 : listed.indexOf(opened);
  const wasOpen = useRef(false);
  // The opened row is in sight; once it is closed, it has the focus again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another probe is opened
  useEffect(() => {
    if (at >= 0) {
      activate(at);
      rows.scrollToIndex(at, { align: "auto" });
    } else if (wasOpen.current && opened === undefined) focus(true);
    wasOpen.current = at >= 0;
  }, [at]);
  useKeys("In the list, while it has the focus", {
    "j or ArrowDown": { does: "go to the next row" },
    "k or ArrowUp": { does: "go to the previous row" },
    "PageDown or PageUp": { does: "go a screen down or up" },
    "Home or End": { does: "go to the first or last row" },
    Enter: { does: "open the conversation of the row" },
  });
  const press = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.role !== "row") return;
    const screen = Math.max(1, Math.floor((scroll.current?.clientHeight ?? 600) / ROW_PX) - 2);
    const moves: Record<string, number> = {
      ArrowDown: position + 1,
      j: position + 1,
      ArrowUp: position - 1,
      k: position - 1,
      PageDown: position + screen,
      PageUp: position - screen,
      Home: 0,
      End: count - 1,
    };
    const to = moves[event.key];
    if (isModified(event)) return;
    if (to !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      move(to);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const index = listed[position];
      if (index !== undefined) open(index);
    }
  };
  return (
    <div className={styles.frame} data-open={opened !== undefined}>
      <div
        ref={scroll}
        className={styles.scroll}
        role="grid"
        aria-label="Conversations"
        aria-rowcount={count + 1}
        aria-colcount={columns.length + 1}
        style={{ "--columns": gridTemplate(columns), "--width": `${gridWidth(columns)}px` } as CSSProperties}
        tabIndex={-1}
        onKeyDown={press}
        onBlur={(event) => {
          if (!event.currentTarget.contains(event.relatedTarget)) focus(false);
        }}
      >
        <div role="rowgroup" className={styles.head}>
          <div role="row" aria-rowindex={1} className={styles.columns} style={{ height: HEAD_PX }}>
            <span role="columnheader">Scenario</span>
            {columns.map((column) =>
              isMetric(column) ? (
                <SortHeader key={column} metric={column} order={order} sort={sort} />
              ) : (
                <span key={column} role="columnheader">
                  {SHOWN_NAMES[column]}
                </span>
              ),
            )}
          </div>
        </div>
        <div role="rowgroup" className={styles.body} style={{ height: rows.getTotalSize() }}>
          {drawn.map((row) => {
            const index = listed[row.index] ?? 0;
            return (
              <Row
                key={index}
                table={table}
                version={version}
                index={index}
                position={row.index}
                top={row.start - HEAD_PX}
                name={cases.get(caseOf(table, index))}
                target={names[(table.cell[index] ?? 0) % table.columns] ?? ""}
                columns={columns}
                isActive={row.index === position}
                isOpen={index === opened}
                choose={open}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function caseOf(table: ProbeTable, index: number): number {
  return Math.max(0, Math.floor((table.cell[index] ?? 0) / table.columns));
}

interface SortProps {
  metric: Metric;
  order: ProbeOrder | undefined;
  sort: (order: ProbeOrder | undefined) => void;
}

/** Sorts descending first, then ascending, then in the order of the run. */
function SortHeader({ metric, order, sort }: SortProps) {
  const direction = order === metric ? "ascending" : order === `-${metric}` ? "descending" : "none";
  const next = { none: `-${metric}`, descending: metric, ascending: undefined } as const;
  return (
    <span role="columnheader" aria-sort={direction} className="figure">
      <button type="button" onClick={() => sort(next[direction])}>
        {METRIC_NAMES[metric]}
        <span aria-hidden="true">{{ none: "", descending: " ↓", ascending: " ↑" }[direction]}</span>
      </button>
    </span>
  );
}

interface RowProps {
  table: ProbeTable;
  version: number;
  index: number;
  position: number;
  top: number;
  name: CaseName | undefined;
  target: string;
  columns: readonly Shown[];
  isActive: boolean;
  isOpen: boolean;
  choose: (index: number) => void;
}

const Row = memo(function Row({
  table,
  index,
  position,
  top,
  name,
  target,
  columns,
  isActive,
  isOpen,
  choose,
}: RowProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all its rows
    <div
      role="row"
      aria-rowindex={position + 2}
      aria-selected={isOpen}
      tabIndex={isActive ? 0 : -1}
      className={`${styles.columns} ${styles.row}`}
      style={{ transform: `translateY(${top}px)`, height: ROW_PX }}
      onClick={() => choose(index)}
    >
      <span role="gridcell">
        {name ? visible(name.scenarioName ?? (name.scenarioId || `scenario ${name.index}`)) : "…"}
        {table.repeats > 1 && <small> {repeatText(table, index)}</small>}
      </span>
      {columns.map((column) =>
        column === "result" ? (
          <span key={column} role="gridcell" className={styles.outcome} data-outcome={table.outcome[index]}>
            {OUTCOME_TEXT[table.outcome[index] ?? Outcome.NONE]}
          </span>
        ) : (
          <span key={column} role="gridcell" className={isMetric(column) ? "figure" : undefined}>
            {column === "target" ? visible(target) : cellText(table, column, index)}
          </span>
        ),
      )}
    </div>
  );
});

function cellText(table: ProbeTable, column: Exclude<Shown, "target" | "result">, index: number): string {
  if (isMetric(column)) return metricText(column, valuesOf(table, column)[index]);
  if (column === "decision") return decisionText(table, index);
  return visible(labelText(table, LABELS[column], index));
}

const LABELS = { tags: "tag", checks: "check", error: "error" } as const;

/** They are the narrowest and the widest of each column; a figure has always the same width. */
const WIDTHS: Record<Exclude<Shown, Metric>, readonly [number, string]> = {
  target: [120, "1fr"],
  result: [88, "88px"],
  decision: [72, "72px"],
  tags: [140, "1fr"],
  checks: [160, "1fr"],
  error: [140, "1fr"],
};
const [SCENARIO_PX, METRIC_PX] = [160, 76];

function gridTemplate(columns: readonly Shown[]): string {
  const widths = columns.map((each) =>
    isMetric(each) ? `${METRIC_PX}px` : `minmax(${WIDTHS[each][0]}px, ${WIDTHS[each][1]})`,
  );
  return [`minmax(${SCENARIO_PX}px, 2fr)`, ...widths].join(" ");
}

function gridWidth(columns: readonly Shown[]): number {
  return columns.reduce((sum, each) => sum + (isMetric(each) ? METRIC_PX : WIDTHS[each][0]), SCENARIO_PX);
}

const OUTCOME_TEXT = ["", "✓ passed", "✕ failed", "! errored", "no result"] as const;

/** Returns which repeat of its case a probe is, from 1. */
function repeatText(table: ProbeTable, index: number): string {
  return `repeat ${index - (table.firstIndex[table.cell[index] ?? 0] ?? index) + 1}`;
}
