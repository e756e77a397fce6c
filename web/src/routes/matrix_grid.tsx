import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, memo, useEffect, useLayoutEffect, useRef, useState } from "react";
import { isTerminal } from "../api/queries";
import { EXCERPTS_PER_READ, useCaseNames, useExcerpts } from "../api/tables";
import type { CaseName, ColumnResults, Excerpt, Run } from "../api/types";
import { columnName } from "../lib/estimates";
import {
  formatCount,
  formatDecimal,
  formatInterval,
  formatMs,
  formatShare,
  formatUsd,
  visible,
} from "../lib/format";
import { type Cell, type ProbeTable, readCell } from "../lib/probe_table";
import { Dots } from "../ui/dots";
import { isModified, useKeys } from "../ui/keys";
import { useWidth } from "../ui/width";
import styles from "./matrix.module.css";

const ROW_PX = { words: 92, compact: 36 };
const MIN_COLUMN_PX = { words: 200, compact: 132 };
const MAX_COLUMN_PX = 460;
const HEAD_PX = { plain: 66, prompts: 84 };
const NARROW_PX = 700;

export interface Position {
  readonly row: number;
  readonly column: number;
}

interface GridProps {
  run: Run;
  table: ProbeTable;
  version: number;
  rows: readonly number[];
  groups: { readonly name: string; readonly levels: ReadonlyMap<number, number> } | undefined;
  columns: readonly ColumnResults[] | undefined;
  isCompact: boolean;
  opened: Position | undefined;
  open: (row: number, column: number) => void;
}

/**
 * Is a grid by its roles, since a table cannot be drawn in part: rows and columns are drawn only where they are seen.
 * Arrow keys move between cells, Enter opens one.
 */
export function MatrixGrid(props: GridProps) {
  const { run, table, version, rows, columns, isCompact, opened, open } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const width = useWidth(scroll);
  const headPx = HEAD_PX[run.config.promptIds.length > 0 ? "prompts" : "plain"];
  const density = isCompact ? "compact" : "words";
  const namePx = width < NARROW_PX ? 128 : 240;
  const space = (width - namePx) / table.columns;
  const columnPx = Math.floor(Math.min(MAX_COLUMN_PX, Math.max(MIN_COLUMN_PX[density], space)));
  const vertical = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX[density],
    scrollMargin: headPx,
    scrollPaddingStart: headPx,
    overscan: 6,
  });
  const horizontal = useVirtualizer({
    horizontal: true,
    count: table.columns,
    getScrollElement: () => scroll.current,
    estimateSize: () => columnPx,
    scrollMargin: namePx,
    scrollPaddingStart: namePx,
    overscan: 2,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are measured again when they change
  useLayoutEffect(() => {
    vertical.measure();
    horizontal.measure();
  }, [density, columnPx, namePx]);
  const [active, activate] = useState<Position>({ row: 0, column: 0 });
  const [isFocused, focus] = useState(false);
  const drawnRows = vertical.getVirtualItems();
  const drawnColumns = horizontal.getVirtualItems().map((each) => each.index);
  const position = { row: Math.min(active.row, rows.length - 1), column: active.column };
  const drawn = drawnRows.map((each) => rows[each.index]).filter((each) => each !== undefined);
  const names = useCaseNames(run.id, drawn);
  const excerptsRead = isCompact ? [] : excerptGroups(table, rows, drawnRows, drawnColumns);
  const excerpts = useExcerpts(run.id, excerptsRead, isTerminal(run.status));

  const move = (row: number, column: number) => {
    const next = {
      row: Math.max(0, Math.min(rows.length - 1, row)),
      column: Math.max(0, Math.min(table.columns - 1, column)),
    };
    vertical.scrollToIndex(next.row, { align: "auto" });
    horizontal.scrollToIndex(next.column, { align: "auto" });
    focus(true);
    activate(next);
  };
  // The cell may be drawn only after it was scrolled to.
  useEffect(() => {
    if (!isFocused) return;
    const cell = scroll.current?.querySelector<HTMLElement>('[role="gridcell"][tabindex="0"]');
    if (cell && document.activeElement !== cell) cell.focus({ preventScroll: true });
  });
  const at = opened === undefined ? -1 : rows.indexOf(opened.row);
  const wasOpen = useRef(false);
  // The opened row is in sight; once it is closed, its cell has the focus again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another row is opened
  useEffect(() => {
    if (at >= 0) {
      activate({ row: at, column: opened?.column ?? 0 });
      vertical.scrollToIndex(at, { align: "auto" });
    } else if (wasOpen.current) focus(true);
    wasOpen.current = at >= 0;
  }, [at]);
  useKeys("In the matrix, while it has the focus", {
    "j or ArrowDown": { does: "go to the next row" },
    "k or ArrowUp": { does: "go to the previous row" },
    "] or ArrowRight": { does: "go to the next target" },
    "[ or ArrowLeft": { does: "go to the previous target" },
    "PageDown or PageUp": { does: "go a screen down or up" },
    "Home or End": { does: "go to the first or last target; with Ctrl, of the first or last row" },
    Enter: { does: "open the conversations of the row" },
  });
  const press = (event: KeyboardEvent) => {
    const { row, column } = position;
    const page = Math.max(1, Math.floor((scroll.current?.clientHeight ?? 600) / ROW_PX[density]) - 2);
    const moves: Record<string, readonly [number, number]> = {
      ArrowDown: [row + 1, column],
      j: [row + 1, column],
      ArrowUp: [row - 1, column],
      k: [row - 1, column],
      ArrowRight: [row, column + 1],
      "]": [row, column + 1],
      ArrowLeft: [row, column - 1],
      "[": [row, column - 1],
      PageDown: [row + page, column],
      PageUp: [row - page, column],
      Home: event.ctrlKey ? [0, 0] : [row, 0],
      End: event.ctrlKey ? [rows.length - 1, table.columns - 1] : [row, table.columns - 1],
    };
    const to = moves[event.key];
    const isCorner = event.ctrlKey && (event.key === "Home" || event.key === "End");
    if (isModified(event) && !isCorner) return;
    if (to) {
      event.preventDefault();
      move(...to);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const chosen = rows[row];
      if (chosen !== undefined) open(chosen, column);
    }
  };
  const total = namePx + horizontal.getTotalSize();
  return (
    <div className={styles.frame} data-open={opened !== undefined}>
      <div
        ref={scroll}
        className={styles.scroll}
        role="grid"
        aria-label="Results by scenario and target"
        aria-rowcount={rows.length + 1}
        aria-colcount={table.columns + 1}
        tabIndex={-1}
        onKeyDown={press}
        onBlur={(event) => {
          if (!event.currentTarget.contains(event.relatedTarget)) focus(false);
        }}
      >
        <div role="rowgroup" className={styles.head} style={{ width: total }}>
          <div role="row" aria-rowindex={1} className={styles.headRow} style={{ height: headPx }}>
            <div role="columnheader" aria-colindex={1} className={styles.corner} style={{ width: namePx }}>
              Scenario
            </div>
            {drawnColumns.map((column) => (
              <Head
                key={column}
                column={column}
                left={namePx + column * columnPx}
                width={columnPx}
                results={columns?.[column]}
              />
            ))}
          </div>
        </div>
        <div
          role="rowgroup"
          className={styles.body}
          style={{ width: total, height: vertical.getTotalSize() }}
        >
          {drawnRows.map((row) => {
            const at = rows[row.index];
            if (at === undefined) return null;
            return (
              <Row
                key={at}
                table={table}
                version={version}
                row={at}
                position={row.index}
                top={row.start - headPx}
                height={ROW_PX[density]}
                namePx={namePx}
                columnPx={columnPx}
                columns={drawnColumns}
                name={names.get(at)}
                group={groupText(props.groups, at)}
                isFirst={
                  row.index > 0 &&
                  groupText(props.groups, at) !== groupText(props.groups, rows[row.index - 1] ?? at)
                }
                excerpts={excerpts}
                isCompact={isCompact}
                activeColumn={row.index === position.row ? position.column : undefined}
                openedColumn={opened?.row === at ? opened.column : undefined}
                choose={(column) => {
                  activate({ row: row.index, column });
                  open(at, column);
                }}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function groupText(groups: GridProps["groups"], row: number): string | undefined {
  return groups && `${groups.name} ${groups.levels.get(row) ?? "unknown"}`;
}

/** Returns the first repeats of the seen cells, in groups that stay the same while the grid is scrolled. */
function excerptGroups(
  table: ProbeTable,
  rows: readonly number[],
  drawn: readonly { index: number }[],
  columns: readonly number[],
): number[][] {
  const perGroup = Math.max(1, Math.floor(EXCERPTS_PER_READ / Math.max(1, columns.length)));
  const numbers = new Set(drawn.map((each) => Math.floor(each.index / perGroup)));
  const groups: number[][] = [];
  for (const number of numbers) {
    const group: number[] = [];
    for (const row of rows.slice(number * perGroup, (number + 1) * perGroup)) {
      for (const column of columns) {
        const index = table.firstIndex[row * table.columns + column] ?? -1;
        if (index >= 0 && table.outcome[index] !== 0) group.push(index);
      }
    }
    if (group.length > 0) groups.push(group);
  }
  return groups;
}

interface HeadProps {
  column: number;
  left: number;
  width: number;
  results: ColumnResults | undefined;
}

function Head({ column, left, width, results }: HeadProps) {
  const { passRate, decision } = results?.estimate ?? {};
  return (
    <div
      role="columnheader"
      aria-colindex={column + 2}
      className={styles.headCell}
      style={{ left, width }}
      title={results ? visible(columnName(results)) : undefined}
    >
      <strong>{results ? visible(results.label ?? results.modelId) : `column ${column + 1}`}</strong>
      {results?.promptId && (
        <span className={styles.prompt}>{visible(results.promptLabel ?? results.promptId)}</span>
      )}
      {passRate && passRate.trials > 0 ? (
        <small>
          {formatShare(passRate.share)} passed, n = {formatCount(passRate.trials)}
          {passRate.interval95 && (
            <span className={styles.interval}> {formatInterval(passRate.interval95, formatShare)}</span>
          )}
        </small>
      ) : (
        decision?.mean !== undefined &&
        decision.mean !== null && (
          <small>
            mean {formatDecimal(decision.mean)}
            {decision.interval95 && (
              <span className={styles.interval}> {formatInterval(decision.interval95, formatDecimal)}</span>
            )}
          </small>
        )
      )}
    </div>
  );
}

interface RowProps {
  table: ProbeTable;
  version: number;
  row: number;
  position: number;
  top: number;
  height: number;
  namePx: number;
  columnPx: number;
  columns: readonly number[];
  name: CaseName | undefined;
  group: string | undefined;
  /** It is true for the first row of a group after another group. */
  isFirst: boolean;
  excerpts: ReadonlyMap<number, Excerpt>;
  isCompact: boolean;
  activeColumn: number | undefined;
  openedColumn: number | undefined;
  choose: (column: number) => void;
}

function Row(props: RowProps) {
  const { table, row, position, top, height, namePx, columnPx, columns, name } = props;
  return (
    <div
      role="row"
      aria-rowindex={position + 2}
      className={styles.row}
      data-open={props.openedColumn !== undefined}
      data-first={props.isFirst}
      style={{ transform: `translateY(${top}px)`, height }}
    >
      <div role="rowheader" aria-colindex={1} className={styles.name} style={{ width: namePx }}>
        <span className={styles.scenario}>
          {name ? visible(name.scenarioName ?? (name.scenarioId || `scenario ${row}`)) : "Loading…"}
        </span>
        {!props.isCompact && props.group !== undefined && <small>{visible(props.group)}</small>}
        {!props.isCompact && name?.personaName && <small>{visible(name.personaName)}</small>}
      </div>
      {columns.map((column) => {
        const cell = readCell(table, row, column);
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all its cells
          <div
            key={column}
            role="gridcell"
            aria-colindex={column + 2}
            aria-selected={props.openedColumn === column}
            tabIndex={props.activeColumn === column ? 0 : -1}
            className={styles.cell}
            style={{ left: namePx + column * columnPx, width: columnPx, height }}
            onClick={() => props.choose(column)}
          >
            {cell ? (
              <CellView
                table={table}
                cell={cell}
                excerpt={props.excerpts.get(cell.firstIndex)}
                isCompact={props.isCompact}
              />
            ) : (
              <span className={styles.pending}>…</span>
            )}
          </div>
        );
      })}
    </div>
  );
}

interface CellProps {
  table: ProbeTable;
  cell: Cell;
  excerpt: Excerpt | undefined;
  isCompact: boolean;
}

const CellView = memo(function CellView({ table, cell, excerpt, isCompact }: CellProps) {
  return (
    <>
      <span className={styles.result}>
        <Dots outcomes={cell.outcomes} />
        <span className={styles.outcome}>{resultText(cell)}</span>
      </span>
      {!isCompact && (
        <>
          <span className={styles.words}>
            {excerpt &&
              visible(
                excerpt.answer ?? excerpt.reason ?? (excerpt.contentAvailable ? "" : "content is gone"),
              )}
          </span>
          <span className={styles.figures}>{figures(table, cell)}</span>
        </>
      )}
    </>
  );
});

function resultText(cell: Cell): string {
  const isSingle = cell.outcomes.length === 1;
  const parts: string[] = [];
  if (cell.judged > 0)
    parts.push(isSingle ? (cell.passed ? "passed" : "failed") : `${cell.passed}/${cell.judged} passed`);
  else if (cell.meanDecision !== null) parts.push(decisionText(cell));
  if (cell.errored > 0) parts.push(isSingle ? "errored" : `${cell.errored} errored`);
  return parts.join(", ") || (cell.outcomes.every((each) => each === 0) ? "not there yet" : "no result");
}

function decisionText({ decided, meanDecision }: Cell): string {
  return decided > 1 ? `mean ${formatDecimal(meanDecision)}` : `decision ${meanDecision}`;
}

function figures(table: ProbeTable, cell: Cell): string {
  const { firstIndex, outcomes } = cell;
  const mean = (values: Float32Array) => {
    let [sum, count] = [0, 0];
    for (let index = firstIndex; index < firstIndex + outcomes.length; index++) {
      const value = values[index] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      sum += value;
      count++;
    }
    return count > 0 ? sum / count : null;
  };
  const [tokens, duration, cost] = [mean(table.tokens), mean(table.durationMs), mean(table.costUsd)];
  return [
    cell.judged > 0 && cell.meanDecision !== null && decisionText(cell),
    tokens !== null && `${formatCount(tokens)} tokens`,
    duration !== null && formatMs(duration),
    cost !== null && formatUsd(Number(cost.toPrecision(6))),
  ]
    .filter(Boolean)
    .join(", ");
}
