import type { ComparisonFigures, ComparisonRow } from "../api/types";
import { columnName } from "./estimates";
import { formatDecimal, formatInterval, formatPoints, formatShare, formatSigned, UNKNOWN } from "./format";

export type Metric = ComparisonFigures["metric"];
type Verdict = ComparisonRow["verdict"];

/** Higher is better for pass rates only: a decision has no better end. */
export const VERDICTS: Record<Verdict, readonly [sign: string, word: string]> = {
  HIGHER: ["▲", "higher"],
  LOWER: ["▼", "lower"],
  EQUIVALENT: ["=", "equivalent"],
  INCONCLUSIVE: ["?", "inconclusive"],
  NOT_COMPARABLE: ["–", "not comparable"],
};

export const METRICS: Record<Metric, string> = {
  DECISION: "mean decision",
  PASS_RATE: "pass rate",
  PASS_RATE_ERRORS_FAIL: "pass rate with errors as failures",
  OTHER_RATE: "share of answers without a decision",
};

export function isRate(metric: Metric): boolean {
  return metric !== "DECISION";
}

export function formatLevel(metric: Metric, value: number | null): string {
  return isRate(metric) ? formatShare(value) : formatDecimal(value);
}

/** Formats a difference with its sign; rates are in percentage points. */
export function formatDifference(metric: Metric, value: number | null): string {
  return isRate(metric) ? formatPoints(value) : formatSigned(value);
}

export function formatDifferences(metric: Metric, interval: readonly number[] | null): string {
  if (interval === null) return UNKNOWN;
  return formatInterval(interval, (value) => formatDifference(metric, value));
}

export function rowName(row: Pick<ComparisonRow, "baseline" | "comparison">): string {
  const [one, other] = [row.baseline.map(columnName).join(" + "), row.comparison.map(columnName).join(" + ")];
  return one === other ? one : `${one} → ${other}`;
}

export const ALL_TARGETS = "All targets together";

/** Returns the row of all pairs together, if there are several, then each pair. */
export function allRows(
  figures: ComparisonFigures,
): { name: string; row: ComparisonRow; isOverall: boolean }[] {
  const rows = figures.rows.map((row) => ({ name: rowName(row), row, isOverall: false }));
  return figures.overall ? [{ name: ALL_TARGETS, row: figures.overall, isOverall: true }, ...rows] : rows;
}
