import type { Comparison, ComparisonFigures, ComparisonRow } from "../api/types";
import { allRows, METRICS, type Metric } from "./comparison";
import type { OperatingFigure } from "./operating_figures";
import { measureName, metricOf, operatingFigureOf, type PairMeasure } from "./pair_measures";
import type { NumberedRun } from "./trend";

/** At most so many runs are compared with each other: with 8, there are 28 pairs. */
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

export function isWhole({ targets, prompts, rescoreId }: Side): boolean {
  return targets.length === 0 && prompts.length === 0 && rescoreId === null;
}

/** At most so many comparisons of a pair are read to find the one by a measure. */
const MOST_OF_PAIR = 4;

/**
 * Returns the comparisons of two runs, whichever is their baseline: the newest first, which the address of the pair
 * shows.
 */
export function comparisonsOf<T extends Listed>({ older, newer }: Pair, listed: readonly T[]): T[] {
  const found = listed
    .filter(({ baseline, comparison }) => isWhole(baseline) && isWhole(comparison))
    .filter(({ baseline, comparison }) => {
      const ids = [baseline.runId, comparison.runId];
      return ids.includes(older.runId) && ids.includes(newer.runId);
    });
  const byId = new Map(found.map((each) => [each.id, each]));
  return [...byId.values()]
    .sort((one, other) => (one.createdAt < other.createdAt ? 1 : one.createdAt > other.createdAt ? -1 : 0))
    .slice(0, MOST_OF_PAIR);
}

export interface TestedFigures {
  readonly metric: Metric;
  readonly difference: number;
  readonly interval: readonly [number, number] | null;
  readonly alpha: number;
  readonly scenarios: number;
  readonly verdict: ComparisonRow["verdict"];
}

export interface DescribedFigures {
  readonly figure: OperatingFigure;
  readonly difference: number;
  readonly older: number;
  readonly newer: number;
}

const REVERSED: Partial<Record<ComparisonRow["verdict"], ComparisonRow["verdict"]>> = {
  HIGHER: "LOWER",
  LOWER: "HIGHER",
};

type Compared = Pick<Comparison, "baseline" | "figures">;

interface Chosen {
  readonly target?: string | undefined;
  /** If omitted, it is the comparison's own measure. */
  readonly measure?: PairMeasure | undefined;
}

/** Returns the difference of one target, or of all together, or why there is none. */
export function figuresOf(
  pair: Pair,
  compared: Compared,
  { target, measure }: Chosen,
): TestedFigures | DescribedFigures | string {
  const { figures } = compared;
  if (!figures) return "no figures";
  const rows = allRows(figures);
  const row = target === undefined ? rows[0]?.row : rows.find((each) => each.name === target)?.row;
  if (!row) return "not a target of both runs";
  const isReversed = compared.baseline.runId !== pair.older.runId;
  if (measure === undefined || metricOf(measure) === figures.metric) return tested(row, figures, isReversed);
  const figure = operatingFigureOf(measure);
  return figure === undefined
    ? `not compared by the ${measureName(measure)}, only by the ${METRICS[figures.metric]}`
    : (described(row, figure, isReversed) ?? `${measureName(measure)}: not known of both runs`);
}

function tested(
  row: ComparisonRow,
  { metric, alpha }: ComparisonFigures,
  isReversed: boolean,
): TestedFigures | string {
  if (row.difference === null) return `not comparable: ${row.sentence}`;
  const sign = isReversed ? -1 : 1;
  const [low, high] = (row.interval ?? []).map((each) => sign * each).sort((one, other) => one - other);
  return {
    metric,
    difference: sign * row.difference,
    interval: low === undefined || high === undefined ? null : [low, high],
    alpha,
    scenarios: row.scenarios,
    verdict: (isReversed && REVERSED[row.verdict]) || row.verdict,
  };
}

function described(
  { operations }: ComparisonRow,
  figure: OperatingFigure,
  isReversed: boolean,
): DescribedFigures | undefined {
  const difference = operations.difference[figure];
  const sides = [operations.baseline[figure], operations.comparison[figure]];
  const [older, newer] = isReversed ? sides.reverse() : sides;
  if (difference === null || typeof older !== "number" || typeof newer !== "number") return undefined;
  return { figure, difference: isReversed ? -difference : difference, older, newer };
}

/** Returns why a pair is refused, without the field and the code that the API puts first. */
export function refusalText(reason: string): string {
  return reason.replace(/^(?:(?:baseline|comparison)(?:\.\w+)*: )?(?:[A-Z_]+: )?/, "");
}

/** Returns the targets to choose from, all together first. */
export function targetsOf(comparisons: readonly Pick<Comparison, "figures">[]): string[] {
  const rows = comparisons.flatMap(({ figures }) => (figures ? allRows(figures) : []));
  const names = [...rows.filter((each) => each.isOverall), ...rows.filter((each) => !each.isOverall)];
  return [...new Set(names.map((each) => each.name))];
}
