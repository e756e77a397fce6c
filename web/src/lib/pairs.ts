/** The runs of an experiment compared with each other, two at a time. */
import type { Comparison, ComparisonRow } from "../api/comparisons";
import { allRows, type Metric } from "./comparison";
import type { NumberedRun } from "./trend";

/** How many runs are compared with each other at most: with 8, there are 28 pairs. */
export const MOST_PAIRED = 8;

export interface Pair {
  readonly older: NumberedRun;
  readonly newer: NumberedRun;
}

export function pairsOf(runs: readonly NumberedRun[]): Pair[] {
  return runs.flatMap((newer, index) => runs.slice(0, index).map((older) => ({ older, newer })));
}

export const keyOf = ({ older, newer }: Pair) => `${older.runId} ${newer.runId}`;

interface Side {
  readonly runId: string;
  readonly targets: readonly string[];
  readonly prompts: readonly string[];
  readonly rescoreId: string | null;
}

interface Listed {
  readonly id: string;
  readonly baseline: Side;
  readonly comparison: Side;
  readonly createdAt: string;
}

/** Whether it compares all targets and prompts by the run's own scoring. */
export function isWhole({ targets, prompts, rescoreId }: Side): boolean {
  return targets.length === 0 && prompts.length === 0 && rescoreId === null;
}

/** The newest comparison of two runs, whichever is its baseline: the one that the address of the pair shows. */
export function comparisonOf<T extends Listed>({ older, newer }: Pair, listed: readonly T[]): T | undefined {
  return listed
    .filter(({ baseline, comparison }) => isWhole(baseline) && isWhole(comparison))
    .filter(({ baseline, comparison }) => {
      const ids = [baseline.runId, comparison.runId];
      return ids.includes(older.runId) && ids.includes(newer.runId);
    })
    .reduce<T | undefined>(
      (one, other) => (one && one.createdAt >= other.createdAt ? one : other),
      undefined,
    );
}

export interface PairFigures {
  readonly metric: Metric;
  /** Newer minus older. */
  readonly difference: number;
  readonly interval: readonly [number, number] | null;
  readonly alpha: number;
  readonly scenarios: number;
  readonly verdict: ComparisonRow["verdict"];
}

const REVERSED: Partial<Record<ComparisonRow["verdict"], ComparisonRow["verdict"]>> = {
  HIGHER: "LOWER",
  LOWER: "HIGHER",
};

/** The difference of one target, or of all together; in words why there is none. */
export function figuresOf(
  { older }: Pair,
  { baseline, figures }: Pick<Comparison, "baseline" | "figures">,
  target: string | undefined,
): PairFigures | string {
  if (!figures) return "no figures";
  const rows = allRows(figures);
  const row = target === undefined ? rows[0]?.row : rows.find((each) => each.name === target)?.row;
  if (!row) return "not a target of both runs";
  if (row.difference === null) return `not comparable: ${row.sentence}`;
  const isReversed = baseline.runId !== older.runId;
  const sign = isReversed ? -1 : 1;
  const [low, high] = (row.interval ?? []).map((each) => sign * each).sort((one, other) => one - other);
  return {
    metric: figures.metric,
    difference: sign * row.difference,
    interval: low === undefined || high === undefined ? null : [low, high],
    alpha: figures.alpha,
    scenarios: row.scenarios,
    verdict: (isReversed && REVERSED[row.verdict]) || row.verdict,
  };
}

/** The targets that can be chosen, all together first. */
export function targetsOf(comparisons: readonly Pick<Comparison, "figures">[]): string[] {
  const rows = comparisons.flatMap(({ figures }) => (figures ? allRows(figures) : []));
  const names = [...rows.filter((each) => each.isOverall), ...rows.filter((each) => !each.isOverall)];
  return [...new Set(names.map((each) => each.name))];
}
