import { Outcome, type ProbeTable } from "./probe_table";

export const MODES = ["failures", "errors", "differ", "unstable"] as const;
export type Mode = (typeof MODES)[number];
export const ORDERS = ["lowest", "spread"] as const;
export type Order = (typeof ORDERS)[number];

/** In a row that is shown as different, targets differ by as much, if it has decisions and no results. */
const DIFFERENT_DECISIONS = 1;

export interface RowFigures {
  readonly judged: number;
  readonly passed: number;
  readonly failed: boolean;
  readonly errored: boolean;
  readonly unstable: boolean;
  /** The columns differ by so much, from 0 to 1 for pass rates or in points of the decision. */
  readonly spread: number;
  readonly differ: boolean;
  /** It is the pass rate, or the mean decision; NaN if there is neither. */
  readonly level: number;
}

/** Computes the figures of a row; cells that are not loaded, or have no outcome, do not count. */
export function rowFigures(table: ProbeTable, row: number): RowFigures {
  let [judged, passed, decided, sum] = [0, 0, 0, 0];
  let [errored, unstable] = [false, false];
  const rates: number[] = [];
  const means: number[] = [];
  for (let column = 0; column < table.columns; column++) {
    const first = table.firstIndex[row * table.columns + column] ?? -1;
    if (first < 0) continue;
    let [inCell, passedInCell, decidedInCell, sumInCell] = [0, 0, 0, 0];
    let [low, high] = [9, 0];
    for (let index = first; index < first + table.repeats; index++) {
      const outcome = table.outcome[index];
      if (outcome === Outcome.ERRORED) errored = true;
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
    judged,
    passed,
    failed: passed < judged,
    errored,
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

const SHOWN: Record<Mode, (row: RowFigures) => boolean> = {
  failures: (row) => row.failed,
  errors: (row) => row.errored,
  differ: (row) => row.differ,
  unstable: (row) => row.unstable,
};

export interface Choice {
  readonly mode: Mode | undefined;
  readonly order: Order | undefined;
  readonly matching: ReadonlySet<number> | null;
  /** If set, rows are grouped by these levels, which are by case index. */
  readonly levels?: ReadonlyMap<number, number> | null;
}

/** Returns the cases to show, in order. */
export function chooseRows(table: ProbeTable, { mode, order, matching, levels }: Choice): number[] {
  const chosen: number[] = [];
  const keys = order ? new Float64Array(table.cases) : null;
  for (let row = 0; row < table.cases; row++) {
    if (matching && !matching.has(row)) continue;
    if (!mode && !keys) {
      chosen.push(row);
      continue;
    }
    const figures = rowFigures(table, row);
    if (mode && !SHOWN[mode](figures)) continue;
    if (keys) keys[row] = order === "spread" ? -figures.spread : figures.level;
    chosen.push(row);
  }
  const level = (row: number) => levels?.get(row) ?? Number.NaN;
  if (keys || levels)
    chosen.sort(
      (one, other) =>
        compare(level(one), level(other)) || compare(keys?.[one] ?? 0, keys?.[other] ?? 0) || one - other,
    );
  return chosen;
}

/** Rows without a figure come last. */
function compare(one: number, other: number): number {
  if (Number.isNaN(one)) return Number.isNaN(other) ? 0 : 1;
  return Number.isNaN(other) ? -1 : one - other;
}

/** Returns the columns shown side by side: as many as fit from the opened one on, and all if there are as few. */
export function sideBySide(columns: number, opened: number, most: number): number[] {
  const first = Math.max(0, Math.min(opened, columns - most));
  return Array.from({ length: Math.min(columns, most) }, (_, offset) => first + offset);
}
