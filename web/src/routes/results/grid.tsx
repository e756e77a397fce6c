import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type CSSProperties,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { isTerminal } from "../../api/queries";
import { EXCERPTS_PER_READ, useCaseNames, useCaseTexts, useExcerpts } from "../../api/tables";
import type { ColumnResults, Run } from "../../api/types";
import type { ProbeTable } from "../../lib/probe_table";
import type { Shown } from "../../lib/probes";
import { caseOf, columnOf, probeOfCell } from "../../lib/result_rows";
import { type CaseOrder, groupAt, linesOf, type RowGroup } from "../../lib/row_groups";
import type { Lines } from "../../lib/search";
import { useKeys } from "../../ui/keys";
import { useWidth } from "../../ui/width";
import styles from "./answers.module.css";
import { columnWidths, type Side, sidesOf, useWidths } from "./columns";
import { GROUP_PX, GroupRow } from "./grid_group";
import { GridHead } from "./grid_head";
import { useGridKeys } from "./grid_keys";
import { GridRow } from "./grid_row";

const [LINE_PX, FRAME_PX] = [19, 18];
const ANSWER_LINES: Record<Lines, number> = { "2": 2, "6": 6, all: 6 };
const NONE_FOLDED: ReadonlySet<string | null> = new Set();
const CHARACTERS: Record<Lines, number> = { "2": 280, "6": 900, all: 8_000 };

interface GridProps {
  frame: RefObject<HTMLDivElement | null>;
  run: Run;
  table: ProbeTable;
  version: number;
  rows: readonly number[];
  groups: readonly RowGroup[] | null;
  /** Names the variable of the groups. */
  group: string | undefined;
  order: string | undefined;
  /** They are the positions of the targets that are shown. */
  columns: readonly number[];
  results: readonly ColumnResults[] | undefined;
  shown: readonly Shown[];
  values: readonly string[];
  lines: Lines;
  isListed: (index: number) => boolean;
  opened: number | undefined;
  open: (index: number) => void;
  /** Filters by a variable: `tone=short`. */
  choose: (where: string) => void;
  sort: (order: CaseOrder | undefined) => void;
}

/**
 * Shows a row per case: its input and what is expected, and the answer of each target. It is a grid by its roles,
 * because only the rows and columns that are seen are drawn. Arrow keys move between answers, Enter opens one, and folds
 * a group on its heading.
 */
export function AnswerGrid(props: GridProps) {
  const { frame, run, table, version, columns, shown, values, lines, isListed, opened, open } = props;
  const { groups, group = "" } = props;
  const { rows, folded, toggle, unfold } = useLines(props.rows, groups, group);
  const scroll = useRef<HTMLDivElement>(null);
  const width = useWidth(scroll);
  const headPx = run.config.promptIds.length > 0 ? 64 : 46;
  const sides = sidesOf(shown.includes("expected"), values, width);
  const [widths, resize] = useWidths();
  const { sidePx, answerPx, fixedPx } = columnWidths(widths, sides, columns.length, width);
  const extra = 1 + Number(shown.includes("reason")) + Number(shown.includes("figures"));
  const rowPx = FRAME_PX + LINE_PX * (ANSWER_LINES[lines] + extra);
  const vertical = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: (at) => ((rows[at] ?? 0) < 0 ? GROUP_PX : rowPx),
    scrollMargin: headPx,
    scrollPaddingStart: headPx,
    overscan: 4,
  });
  const horizontal = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => answerPx,
    scrollMargin: fixedPx,
    scrollPaddingStart: sidePx.input,
    overscan: 1,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are measured again when they change
  useLayoutEffect(() => {
    vertical.measure();
    horizontal.measure();
  }, [rows, rowPx, lines, answerPx, fixedPx]);
  const drawnRows = vertical.getVirtualItems();
  const drawnColumns = horizontal.getVirtualItems().map((each) => each.index);
  const drawn = drawnRows.flatMap((each) => rows[each.index] ?? []).filter((row) => row >= 0);
  const names = useCaseNames(run.id, drawn);
  const texts = useCaseTexts(run.id, drawn);
  const probeAt = (row: number, column: number) =>
    opened !== undefined && caseOf(table, opened) === row && columnOf(table, opened) === column
      ? opened
      : probeOfCell(table, row, column, isListed);
  const excerpts = useExcerpts(
    run.id,
    excerptGroups(rows, drawnRows, drawnColumns.length, (row) =>
      drawnColumns.map((at) => probeOfCell(table, row, columns[at] ?? 0, isListed)),
    ),
    CHARACTERS[lines],
    isTerminal(run.status),
  );
  const [isFocused, focus] = useState(false);
  const { active, activate, press } = useGridKeys({
    rows: rows.length,
    columns: columns.length,
    screen: () => Math.max(1, Math.floor((scroll.current?.clientHeight ?? 600) / rowPx) - 1),
    reveal: (row, column) => {
      vertical.scrollToIndex(row, { align: "auto" });
      horizontal.scrollToIndex(column, { align: "auto" });
      focus(true);
    },
    choose: (row, column) => {
      const heading = groups && groupAt(groups, rows[row] ?? 0);
      if (heading) return toggle(heading);
      const index = probeAt(rows[row] ?? 0, columns[column] ?? 0);
      if (index >= 0) open(index);
    },
  });
  const focusCell = () => {
    const cell = scroll.current?.querySelector<HTMLElement>('[role="gridcell"][tabindex="0"]');
    if (cell && document.activeElement !== cell) cell.focus({ preventScroll: true });
  };
  // The cell may be drawn only after it was scrolled to.
  useEffect(() => {
    if (isFocused) focusCell();
  });
  const openedCase = opened === undefined ? -1 : caseOf(table, opened);
  const openedRow = openedCase < 0 ? -1 : rows.indexOf(openedCase);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a group may be folded again while an answer is open
  useEffect(() => unfold(openedCase), [openedCase]);
  const openedColumn = opened === undefined ? -1 : columns.indexOf(columnOf(table, opened));
  const wasOpen = useRef(false);
  // The opened answer is in sight; once it is closed, it has the focus again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another probe is opened
  useEffect(() => {
    if (openedRow >= 0) {
      activate({ row: openedRow, column: Math.max(0, openedColumn) });
      vertical.scrollToIndex(openedRow, { align: "auto" });
      if (openedColumn >= 0) horizontal.scrollToIndex(openedColumn, { align: "auto" });
    } else if (wasOpen.current && opened === undefined)
      afterNextPicture(() => {
        focusCell();
        focus(true);
      });
    wasOpen.current = openedRow >= 0;
  }, [openedRow, openedColumn]);
  useKeys("In the table, while it has the focus", {
    "ArrowDown or ArrowUp": { does: "go to the next or previous row" },
    "ArrowRight or ArrowLeft": { does: "go to the next or previous target" },
    "PageDown or PageUp": { does: "go a screen down or up" },
    "Home or End": { does: "go to the first or last target; with Ctrl, of the first or last row" },
    Enter: { does: "open the conversation, or fold a group on its heading" },
  });
  const template = [
    ...sides.map((side) => `${sidePx[side.kind]}px`),
    ...columns.map(() => `${answerPx}px`),
  ].join(" ");
  const total = fixedPx + columns.length * answerPx;
  return (
    <div className={styles.frame} ref={frame}>
      <div
        ref={scroll}
        className={styles.scroll}
        role="grid"
        aria-label="Answers by scenario and target"
        aria-rowcount={rows.length + 1}
        aria-colcount={sides.length + columns.length}
        data-lines={lines}
        style={
          { "--template": template, "--width": `${total}px`, "--lines": ANSWER_LINES[lines] } as CSSProperties
        }
        tabIndex={-1}
        onKeyDown={press}
        onBlur={(event) => {
          if (!event.currentTarget.contains(event.relatedTarget)) focus(false);
        }}
      >
        <GridHead
          height={headPx}
          sides={sides}
          sidePx={sidePx}
          answerPx={answerPx}
          columns={columns}
          drawn={drawnColumns}
          results={props.results}
          resize={resize}
          order={props.order}
          sort={props.sort}
        />
        <div role="rowgroup" className={styles.body} style={{ height: vertical.getTotalSize() }}>
          {drawnRows.map((virtual) => {
            const row = rows[virtual.index];
            if (row === undefined) return null;
            const activeColumn =
              virtual.index === Math.min(active.row, rows.length - 1) ? active.column : undefined;
            const heading = groups && groupAt(groups, row);
            if (heading)
              return (
                <GroupRow
                  key={row}
                  name={group}
                  group={heading}
                  isFolded={folded.has(heading.value)}
                  position={virtual.index}
                  top={virtual.start - headPx}
                  sides={sides.length}
                  columns={columns}
                  drawn={drawnColumns}
                  activeColumn={activeColumn}
                  toggle={(at) => {
                    if (at !== undefined) activate({ row: virtual.index, column: at });
                    toggle(heading);
                  }}
                />
              );
            return (
              <GridRow
                key={row}
                measure={lines === "all" ? vertical.measureElement : undefined}
                table={table}
                version={version}
                row={row}
                position={virtual.index}
                top={virtual.start - headPx}
                height={lines === "all" ? undefined : rowPx}
                sides={sides}
                columns={columns}
                drawn={drawnColumns}
                shown={shown}
                lines={lines}
                isMoving={vertical.isScrolling}
                name={names.get(row)}
                texts={texts.get(row)}
                excerpts={excerpts}
                probeAt={probeAt}
                activeColumn={activeColumn}
                openedColumn={virtual.index === openedRow ? openedColumn : undefined}
                choose={(at) => {
                  activate({ row: virtual.index, column: at });
                  const index = probeAt(row, columns[at] ?? 0);
                  if (index >= 0) open(index);
                }}
                filter={(side: Side, value) => props.choose(`${side.name}=${value}`)}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Returns the rows with the headings of their groups; the groups that are folded are forgotten with the page. */
function useLines(rows: readonly number[], groups: readonly RowGroup[] | null, name: string) {
  const [state, setState] = useState<{ name: string; folded: ReadonlySet<string | null> }>();
  const folded = state?.name === name ? state.folded : NONE_FOLDED;
  const lines = useMemo(() => (groups ? linesOf(groups, folded) : rows), [groups, folded, rows]);
  const fold = ({ value }: RowGroup, isFolded: boolean) => {
    const others = [...folded].filter((each) => each !== value);
    setState({ name, folded: new Set(isFolded ? [...others, value] : others) });
  };
  return {
    rows: lines,
    folded,
    toggle: (group: RowGroup) => fold(group, !folded.has(group.value)),
    unfold: (row: number) => {
      const group = groups?.find((each) => folded.has(each.value) && each.rows.includes(row));
      if (group) fold(group, false);
    },
  };
}

/** The columns that are seen are known once the browser has given the table its new width. */
function afterNextPicture(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act));
}

/** Returns the probes of the seen cells in groups that stay the same while the table is scrolled. */
function excerptGroups(
  rows: readonly number[],
  drawn: readonly { index: number }[],
  columns: number,
  probesOf: (row: number) => readonly number[],
): number[][] {
  const perGroup = Math.max(1, Math.floor(EXCERPTS_PER_READ / Math.max(1, columns)));
  const numbers = new Set(drawn.map((each) => Math.floor(each.index / perGroup)));
  return [...numbers]
    .map((number) =>
      rows
        .slice(number * perGroup, (number + 1) * perGroup)
        .flatMap((row) => (row < 0 ? [] : probesOf(row)).filter((index) => index >= 0)),
    )
    .filter((group) => group.length > 0);
}
