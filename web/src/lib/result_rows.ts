import { Outcome, type ProbeTable } from "./probe_table";

/** In the rows of these modes, targets differ from each other, or the repeats of a target do. */
export const MODES = ["differ", "unstable"] as const;
export type Mode = (typeof MODES)[number];
/** Rows with the lowest pass rate, or with the largest difference between targets, come first. */
export const ROW_ORDERS = ["lowest", "spread"] as const;
export type RowOrder = (typeof ROW_ORDERS)[number];

/** In a row that is shown as different, targets differ by as much, if it has decisions and no results. */
const DIFFERENT_DECISIONS = 1;

interface RowFigures {
  readonly unstable: boolean;
  /** The columns differ by so much, from 0 to 1 for pass rates or in points of the decision. */
  readonly spread: number;
  readonly differ: boolean;
  /** It is the pass rate, or the mean decision; NaN if there is neither. */
  readonly level: number;
}

/** Computes the figures of a row; cells that are not loaded, or have no outcome, do not count. */
function rowFigures(table: ProbeTable, row: number): RowFigures {
  let [judged, passed, decided, sum] = [0, 0, 0, 0];
  let unstable = false;
  const rates: number[] = [];
  const means: number[] = [];
  for (let column = 0; column < table.columns; column++) {
    const first = table.firstIndex[row * table.columns + column] ?? -1;
    if (first < 0) continue;
    let [inCell, passedInCell, decidedInCell, sumInCell] = [0, 0, 0, 0];
    let [low, high] = [9, 0];
    for (let index = first; index < first + table.repeats; index++) {
      const outcome = table.outcome[index];
      if (outcome === Outcome.PASSED) passedInCell++;
      if (outcome === Outcome.PASSED || outcome === Outcome.FAILED) inCell++;
      const decision = table.decision[index] ?? 0;
      if (decision < 1 || decision > 5) continue;
      decidedInCell++;
      sumInCell += decision;
      low = Math.min(low, decision);
      high = Math.max(high, decision);
    }
    if (inCell > 0) rates.push(passedInCell / inCell);
    if (decidedInCell > 0) means.push(sumInCell / decidedInCell);
    if (inCell > 0 ? passedInCell > 0 && passedInCell < inCell : high > low) unstable = true;
    judged += inCell;
    passed += passedInCell;
    decided += decidedInCell;
    sum += sumInCell;
  }
  const values = judged > 0 ? rates : means;
  const spread = values.length > 1 ? Math.max(...values) - Math.min(...values) : 0;
  return {
    unstable,
    spread,
    differ: judged > 0 ? majorityDiffers(rates) : spread >= DIFFERENT_DECISIONS,
    level: judged > 0 ? passed / judged : decided > 0 ? sum / decided : Number.NaN,
  };
}

/** Tells whether some columns pass in at least half of their repeats and others do not. */
function majorityDiffers(rates: readonly number[]): boolean {
  return rates.some((rate) => rate >= 0.5) && rates.some((rate) => rate < 0.5);
}

export function isRowOrder(order: string | undefined): order is RowOrder {
  return ROW_ORDERS.some((each) => each === order);
}

/** Returns the cases of these probes, each once, in the order of its first probe, or by a figure of the row. */
export function rowsOf(
  table: ProbeTable,
  listed: Int32Array,
  mode: Mode | undefined,
  order: RowOrder | undefined,
): number[] {
  const isSeen = new Uint8Array(table.cases);
  const rows: number[] = [];
  const keys = order ? new Float64Array(table.cases) : null;
  for (const index of listed) {
    const row = caseOf(table, index);
    if (isSeen[row]) continue;
    isSeen[row] = 1;
    if (mode || keys) {
      const figures = rowFigures(table, row);
      if (mode && !figures[mode]) continue;
      if (keys) keys[row] = order === "spread" ? -figures.spread : figures.level;
    }
    rows.push(row);
  }
  if (keys) rows.sort((one, other) => compare(keys[one] ?? 0, keys[other] ?? 0) || one - other);
  return rows;
}

export function caseOf(table: ProbeTable, index: number): number {
  return Math.max(0, Math.floor((table.cell[index] ?? 0) / table.columns));
}

export function columnOf(table: ProbeTable, index: number): number {
  return Math.max(0, (table.cell[index] ?? 0) % table.columns);
}

/** Rows without a figure come last. */
function compare(one: number, other: number): number {
  if (Number.isNaN(one)) return Number.isNaN(other) ? 0 : 1;
  return Number.isNaN(other) ? -1 : one - other;
}

/**
 * Returns the repeat that stands for a cell: the first that is listed and failed, else the first that is listed, else
 * the first with an outcome; -1 if the cell has none.
 */
export function probeOfCell(
  table: ProbeTable,
  row: number,
  column: number,
  isListed: (index: number) => boolean,
): number {
  const first = table.firstIndex[row * table.columns + column] ?? -1;
  if (first < 0) return -1;
  const indexes = Array.from({ length: table.repeats }, (_, repeat) => first + repeat).filter(
    (index) => table.outcome[index] !== Outcome.NONE,
  );
  const listed = indexes.filter(isListed);
  return listed.find((index) => table.outcome[index] === Outcome.FAILED) ?? listed[0] ?? indexes[0] ?? -1;
}

/**
 * Returns the next or previous listed (failed) probe, row by row and within a row from target to target; undefined if
 * there is none. Without a probe to start from, it returns the first or the last one.
 */
export function neighborOf(
  table: ProbeTable,
  rows: readonly number[],
  columns: readonly number[],
  from: number | undefined,
  direction: 1 | -1,
  isWanted: (index: number) => boolean,
): number | undefined {
  const perRow = columns.length * table.repeats;
  const size = rows.length * perRow;
  for (
    let at =
      from === undefined ? (direction === 1 ? 0 : size - 1) : placeOf(table, rows, columns, from) + direction;
    at >= 0 && at < size;
    at += direction
  ) {
    const row = rows[Math.floor(at / perRow)] ?? 0;
    const column = columns[Math.floor((at % perRow) / table.repeats)] ?? 0;
    const first = table.firstIndex[row * table.columns + column] ?? -1;
    const index = first + (at % table.repeats);
    if (first >= 0 && isWanted(index)) return index;
  }
  return undefined;
}

/** Returns the place before the first probe for one whose row or column is not shown. */
function placeOf(
  table: ProbeTable,
  rows: readonly number[],
  columns: readonly number[],
  index: number,
): number {
  const row = rows.indexOf(caseOf(table, index));
  const column = columns.indexOf(columnOf(table, index));
  if (row < 0 || column < 0) return -1;
  const repeat = index - (table.firstIndex[table.cell[index] ?? 0] ?? index);
  return (row * columns.length + column) * table.repeats + repeat;
}

interface CheckRate {
  readonly passed: number;
  readonly judged: number;
}

export interface CheckRow {
  readonly name: string;
  /** It has an entry for each target, of probes that the check passed or failed. */
  readonly rates: readonly CheckRate[];
}

/** Counts for each check and target how often it passed, the checks that fail most often first. */
export function checkRows(table: ProbeTable): CheckRow[] {
  const size = table.labels.check.length;
  const passed = new Float64Array(size * table.columns);
  const failed = new Float64Array(size * table.columns);
  const add = (counts: Float64Array, checks: readonly number[], column: number) => {
    for (const check of checks) {
      const at = check * table.columns + column;
      counts[at] = (counts[at] ?? 0) + 1;
    }
  };
  for (let index = 0; index < table.total; index++) {
    add(passed, table.passedChecks[index] ?? [], columnOf(table, index));
    add(failed, table.failedChecks[index] ?? [], columnOf(table, index));
  }
  const rows = table.labels.check.map((name, check) => ({
    name,
    rates: Array.from({ length: table.columns }, (_, column) => {
      const at = check * table.columns + column;
      return { passed: passed[at] ?? 0, judged: (passed[at] ?? 0) + (failed[at] ?? 0) };
    }),
  }));
  return rows.sort((one, other) => overall(one) - overall(other) || one.name.localeCompare(other.name));
}

function overall({ rates }: CheckRow): number {
  const judged = rates.reduce((sum, each) => sum + each.judged, 0);
  return judged === 0 ? 1 : rates.reduce((sum, each) => sum + each.passed, 0) / judged;
}

/** Counts the conversations with each failure tag, the most frequent first. */
export function tagCounts(table: ProbeTable): { tag: string; count: number }[] {
  const counts = new Float64Array(table.labels.tag.length);
  for (const tags of table.tags) for (const tag of tags) counts[tag] = (counts[tag] ?? 0) + 1;
  return table.labels.tag
    .map((tag, at) => ({ tag, count: counts[at] ?? 0 }))
    .sort((one, other) => other.count - one.count || one.tag.localeCompare(other.tag));
}

/** Returns the columns shown side by side: as many as fit from the opened one on, and all if there are as few. */
export function sideBySide(columns: number, opened: number, most: number): number[] {
  const first = Math.max(0, Math.min(opened, columns - most));
  return Array.from({ length: Math.min(columns, most) }, (_, offset) => first + offset);
}
