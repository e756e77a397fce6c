import { type LabelKind, OTHER, Outcome, type ProbeTable } from "./probe_table";
import type { Range } from "./ranges";

export const METRICS = ["score", "time", "cost", "tokens", "turns"] as const;
export type Metric = (typeof METRICS)[number];
export const OUTCOMES = ["passed", "failed", "unjudged", "errored"] as const;
export type OutcomeFilter = (typeof OUTCOMES)[number];
export const DECISIONS = ["1", "2", "3", "4", "5", "other", "none"] as const;
export type DecisionFilter = (typeof DECISIONS)[number];
/** The table can show these besides the input and the answers. */
export const SHOWN = ["expected", "checks", "reason", "figures"] as const;
export type Shown = (typeof SHOWN)[number];
export const PROBE_ORDERS = METRICS.flatMap((each) => [each, `-${each}`] as const);
export type ProbeOrder = Metric | `-${Metric}`;

const CODES: Record<OutcomeFilter, number> = {
  passed: Outcome.PASSED,
  failed: Outcome.FAILED,
  unjudged: Outcome.UNJUDGED,
  errored: Outcome.ERRORED,
};

export interface ProbeChoice {
  /** They are positions among the columns of the run's results; all if omitted. */
  readonly columns?: ReadonlySet<number> | undefined;
  readonly outcome?: OutcomeFilter | undefined;
  readonly ranges: Readonly<Partial<Record<Metric, Range>>>;
  readonly decision?: DecisionFilter | undefined;
  readonly labels?: Readonly<Partial<Record<LabelKind, string>>>;
  readonly matching: ReadonlySet<number> | null;
  readonly said?: ReadonlySet<number> | null;
}

/** Returns values; NaN where a probe has no such figure. */
export function valuesOf(table: ProbeTable, metric: Metric): Float32Array {
  switch (metric) {
    case "score":
      return table.score;
    case "time":
      return table.durationMs;
    case "cost":
      return table.costUsd;
    case "tokens":
      return table.tokens;
    case "turns":
      return table.turns;
  }
}

/** Returns the probes that have an outcome and match. A probe without a figure is in no range of it. */
export function chooseProbes(table: ProbeTable, choice: ProbeChoice): Int32Array {
  const { columns, outcome, ranges, matching, said } = choice;
  const hasLabels = labelTest(table, choice);
  const code = outcome === undefined ? Outcome.NONE : CODES[outcome];
  const chosen = new Int32Array(table.total);
  let count = 0;
  for (let index = 0; index < table.total; index++) {
    const found = table.outcome[index];
    if (found === Outcome.NONE || (code !== Outcome.NONE && found !== code)) continue;
    const cell = table.cell[index] ?? -1;
    if (columns && !columns.has(cell % table.columns)) continue;
    if (matching && !matching.has(Math.floor(cell / table.columns))) continue;
    if (said && !said.has(index)) continue;
    if (!hasLabels(index)) continue;
    chosen[count++] = index;
  }
  let kept: Int32Array = chosen.subarray(0, count);
  for (const metric of METRICS) {
    const range = ranges[metric];
    if (range) kept = withinRange(kept, valuesOf(table, metric), range);
  }
  return kept;
}

function labelTest(table: ProbeTable, { decision, labels = {} }: ProbeChoice): (index: number) => boolean {
  const wanted = decision === undefined ? -1 : DECISION_CODES[decision];
  const tag = labels.tag === undefined ? null : table.labels.tag.indexOf(labels.tag);
  const check = labels.check === undefined ? null : table.labels.check.indexOf(labels.check);
  const error = labels.error === undefined ? null : table.labels.error.indexOf(labels.error);
  return (index) =>
    (wanted < 0 || table.decision[index] === wanted) &&
    (tag === null || (table.tags[index]?.includes(tag) ?? false)) &&
    (check === null || (table.failedChecks[index]?.includes(check) ?? false)) &&
    (error === null || (error >= 0 && table.error[index] === error));
}

const DECISION_CODES: Record<DecisionFilter, number> = {
  "1": 1,
  "2": 2,
  "3": 3,
  "4": 4,
  "5": 5,
  other: OTHER,
  none: 0,
};

export function labelText(table: ProbeTable, kind: LabelKind, index: number): string {
  if (kind === "error") return table.labels.error[table.error[index] ?? -1] ?? "";
  const positions = (kind === "tag" ? table.tags : table.failedChecks)[index] ?? [];
  return positions.map((each) => table.labels[kind][each] ?? "").join(", ");
}

/** Values and bounds are compared in single precision, so that 0.7 is not below 0.7. */
function withinRange(indexes: Int32Array, values: Float32Array, range: Range): Int32Array {
  const from = Math.fround(range.from ?? Number.NEGATIVE_INFINITY);
  const below = Math.fround(range.below ?? Number.POSITIVE_INFINITY);
  let count = 0;
  for (const index of indexes) {
    const value = values[index] ?? Number.NaN;
    if (value >= from && value < below) indexes[count++] = index;
  }
  return indexes.subarray(0, count);
}

/** Orders by a figure, and by the run where it is equal; probes without the figure come last. */
export function orderProbes(
  table: ProbeTable,
  chosen: Int32Array,
  order: ProbeOrder | undefined,
): Int32Array {
  if (order === undefined) return chosen;
  const isDescending = order.startsWith("-");
  const values = valuesOf(table, (isDescending ? order.slice(1) : order) as Metric);
  const known = chosen.filter((index) => !Number.isNaN(values[index]));
  const unknown = chosen.filter((index) => Number.isNaN(values[index]));
  const direction = isDescending ? -1 : 1;
  known.sort((one, other) => direction * ((values[one] ?? 0) - (values[other] ?? 0)) || one - other);
  const ordered = new Int32Array(chosen.length);
  ordered.set(known);
  ordered.set(unknown, known.length);
  return ordered;
}

/** Returns the same case and repeat with the next or previous target; -1 if none has an outcome. */
export function siblingAt(table: ProbeTable, index: number, direction: 1 | -1): number {
  const cell = table.cell[index] ?? -1;
  const column = (cell % table.columns) + direction;
  const first = table.firstIndex[cell + direction] ?? -1;
  if (cell < 0 || column < 0 || column >= table.columns || first < 0) return -1;
  const to = first + index - (table.firstIndex[cell] ?? index);
  return table.outcome[to] === Outcome.NONE ? -1 : to;
}

export interface ListFigures {
  readonly passed: number;
  readonly judged: number;
  readonly errored: number;
}

export function listFigures(table: ProbeTable, listed: Int32Array): ListFigures {
  let [passed, judged, errored] = [0, 0, 0];
  for (const index of listed) {
    const outcome = table.outcome[index];
    if (outcome === Outcome.PASSED) passed++;
    if (outcome === Outcome.PASSED || outcome === Outcome.FAILED) judged++;
    if (outcome === Outcome.ERRORED) errored++;
  }
  return { passed, judged, errored };
}

export function decisionText(table: ProbeTable, index: number): string {
  const decision = table.decision[index] ?? 0;
  if (decision === 0) return "";
  return decision === OTHER ? "other" : String(decision);
}
