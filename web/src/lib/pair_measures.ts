import type { Comparison, ComparisonFigures, ComparisonRow } from "../api/types";
import { allRows, METRICS, type Metric } from "./comparison";
import { OPERATING_FIGURES, type OperatingFigure } from "./operating_figures";

export const PAIR_MEASURES = [
  "passRate",
  "passRateErrorsFail",
  "decision",
  "otherRate",
  "cost",
  "tokens",
  "time",
  "p95",
  "errors",
] as const;
export type PairMeasure = (typeof PAIR_MEASURES)[number];

/** A comparison tests its metric, and describes operating figures of its sides. */
interface Source {
  readonly name: string;
  readonly metric?: Metric;
  readonly figure?: OperatingFigure;
}
const SOURCES: Record<PairMeasure, Source> = {
  passRate: { name: METRICS.PASS_RATE, metric: "PASS_RATE" },
  passRateErrorsFail: { name: METRICS.PASS_RATE_ERRORS_FAIL, metric: "PASS_RATE_ERRORS_FAIL" },
  decision: { name: METRICS.DECISION, metric: "DECISION" },
  otherRate: { name: METRICS.OTHER_RATE, metric: "OTHER_RATE", figure: "otherRate" },
  cost: { name: "cost of a conversation", figure: "costUsd" },
  tokens: { name: "tokens of a conversation", figure: "tokens" },
  time: { name: "median time of a conversation", figure: "medianDurationMs" },
  p95: { name: "95th percentile of the time", figure: "p95DurationMs" },
  errors: { name: "share of errored conversations", figure: "errorRate" },
};

export const metricOf = (measure: PairMeasure) => SOURCES[measure].metric;
export const operatingFigureOf = (measure: PairMeasure) => SOURCES[measure].figure;

export function measureOf(metric: Metric): PairMeasure {
  return PAIR_MEASURES.find((each) => metricOf(each) === metric) ?? "passRate";
}

export const measureName = (measure: PairMeasure) => SOURCES[measure].name;

export function measureTitle(measure: PairMeasure): string {
  const name = measureName(measure);
  return `${name[0]?.toUpperCase()}${name.slice(1)}`;
}

type Figured = Pick<Comparison, "figures">;

const figuresOfAll = (comparisons: readonly Figured[]): ComparisonFigures[] =>
  comparisons.flatMap(({ figures }) => figures ?? []);

/** Returns the measure that all comparisons were made with, if it is one. */
export function commonMeasure(comparisons: readonly Figured[]): PairMeasure | undefined {
  const [metric, ...others] = new Set(figuresOfAll(comparisons).map((each) => each.metric));
  return metric === undefined || others.length > 0 ? undefined : measureOf(metric);
}

/** Returns the pass rate, and other measures of any of them; none without any figures. */
export function measuresOf(comparisons: readonly Figured[]): PairMeasure[] {
  const all = figuresOfAll(comparisons);
  if (all.length === 0) return [];
  const rows = all.flatMap((each) => allRows(each).map(({ row }) => row));
  const metrics = new Set<Metric>(["PASS_RATE", ...all.map((each) => each.metric)]);
  if (rows.some(hasDecisions)) metrics.add("DECISION");
  if (rows.some((row) => typeof row.errorsFailDifference === "number")) metrics.add("PASS_RATE_ERRORS_FAIL");
  const figures = OPERATING_FIGURES.filter((each) =>
    rows.some(({ operations }) => operations.difference[each] !== null),
  );
  return PAIR_MEASURES.filter((each) => {
    const { metric, figure } = SOURCES[each];
    return (metric && metrics.has(metric)) || (figure && figures.includes(figure));
  });
}

function hasDecisions({ distribution }: Pick<ComparisonRow, "distribution">): boolean {
  return distribution.totalVariation !== null;
}

/** Returns the first comparison with this measure, or else the first; the newest comes first. */
export function measuredBy<T extends Figured>(
  comparisons: readonly T[],
  measure: PairMeasure | undefined,
): T | undefined {
  const metric = measure && metricOf(measure);
  return (metric && comparisons.find((each) => each.figures?.metric === metric)) || comparisons[0];
}

/** Tells whether this comparison lacks a measure that another one would have. */
export function lacksMeasure({ figures }: Figured, measure: PairMeasure | undefined): boolean {
  if (measure === undefined || !figures) return false;
  const { metric, figure } = SOURCES[measure];
  return metric !== undefined && figure === undefined && figures.metric !== metric;
}
