import type { ColumnResults, ExperimentSummary } from "../api/types";
import { columnName } from "./estimates";
import { formatCount } from "./format";

export const MOST_RUNS = 30;
/** At most so many targets are drawn, those of the newest runs first. */
export const MOST_TARGETS = 8;

export const MEASURES = ["PASS_RATE", "DECISION"] as const;
export type Measure = (typeof MEASURES)[number];

type ExperimentRun = ExperimentSummary["runs"][number];

/** Adds to a run its place among all runs of the experiment, from 1 on, oldest first. */
export interface NumberedRun extends ExperimentRun {
  readonly number: number;
  readonly isBaseline: boolean;
}

export function numbered(runs: readonly ExperimentRun[], baseline: string | null): NumberedRun[] {
  return runs.map((run, index) => ({ ...run, number: index + 1, isBaseline: run.runId === baseline }));
}

/** Returns the newest runs and the baseline, at most so many. */
export function newestOf(runs: readonly NumberedRun[], most: number): NumberedRun[] {
  const newest = runs.slice(-most);
  const baseline = runs.find((run) => run.isBaseline);
  return baseline === undefined || newest.includes(baseline) ? newest : [baseline, ...newest.slice(1)];
}

/** Says which runs are shown where there are more. */
export function shownText(
  shown: readonly NumberedRun[],
  all: readonly NumberedRun[],
  verb: "drawn" | "compared here",
): string {
  const baseline = shown[0]?.isBaseline ? " and the baseline" : "";
  return `${formatCount(shown.length)} of ${formatCount(all.length)} runs are ${verb}: the newest${baseline}.`;
}

export interface Estimate {
  readonly value: number;
  readonly interval: readonly [number, number] | null;
  readonly count: number;
}

/** It has a run's columns, or says why there are none. */
export type Results = readonly ColumnResults[] | string;

export interface TrendPoint {
  readonly run: NumberedRun;
  readonly estimate: Estimate | null;
  /** It says why there is no estimate, and is empty if there is one. */
  readonly missing: string;
}

export interface TrendSeries {
  readonly target: string;
  readonly points: readonly TrendPoint[];
}

/** Returns the figures of each target over the runs; targets without any figure are left out. */
export function trendOf(
  runs: readonly NumberedRun[],
  resultsOf: (run: NumberedRun) => Results,
  measure: Measure,
): TrendSeries[] {
  const results = runs.map((run) => ({ run, columns: resultsOf(run) }));
  const targets = new Set(
    results
      .toReversed()
      .flatMap(({ columns }) => (typeof columns === "string" ? [] : columns.map(columnName))),
  );
  return [...targets]
    .map((target) => ({
      target,
      points: results.map(({ run, columns }) => pointOf(run, columns, target, measure)),
    }))
    .filter(({ points }) => points.some((each) => each.estimate !== null));
}

function pointOf(run: NumberedRun, columns: Results, target: string, measure: Measure): TrendPoint {
  if (typeof columns === "string") return { run, estimate: null, missing: columns };
  const column = columns.find((each) => columnName(each) === target);
  const estimate = column ? estimateOf(column, measure) : null;
  const missing = estimate ? "" : column ? missingWord(run) : "not in this run";
  return { run, estimate, missing };
}

/** Describes a run that has the target, but no result of it. */
function missingWord({ status }: NumberedRun): string {
  return status === "COMPLETED" ? "no results" : status.toLowerCase();
}

export function estimateOf({ estimate }: ColumnResults, measure: Measure): Estimate | null {
  const { passRate, decision } = estimate;
  const [value, interval, count] =
    measure === "PASS_RATE"
      ? [passRate.share, passRate.interval95, passRate.trials]
      : [decision.mean, decision.interval95, decision.answers];
  if (value === null || count === 0) return null;
  const [low, high] = interval ?? [];
  return { value, interval: low === undefined || high === undefined ? null : [low, high], count };
}

/** Counts the runs that have a figure of any target. */
export function countDrawn(series: readonly TrendSeries[]): number {
  const drawn = series.flatMap(({ points }) =>
    points.filter((each) => each.estimate).map((each) => each.run),
  );
  return new Set(drawn.map((run) => run.runId)).size;
}
