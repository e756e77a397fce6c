import type { ColumnResults } from "../api/types";
import { counted, formatCount, formatInterval, formatShare } from "./format";

export interface PassRates {
  /** It is one rate with its interval, or the range from the lowest to the highest. */
  readonly rate: string;
  readonly note: string;
}

/** Returns null without any result. */
export function passRates(columns: readonly ColumnResults[]): PassRates | null {
  const rates = columns.flatMap(({ estimate: { passRate } }) =>
    passRate.trials > 0 && passRate.share !== null ? [{ ...passRate, share: passRate.share }] : [],
  );
  const [first] = rates;
  if (first === undefined) return null;
  if (rates.length === 1)
    return {
      rate: formatShare(first.share),
      note: `${formatInterval(first.interval95, formatShare)}, n = ${formatCount(first.trials)}`,
    };
  const shares = rates.map((each) => each.share);
  const [low, high] = [Math.min(...shares), Math.max(...shares)].map(formatShare);
  return {
    rate: low === high ? `${low}` : `${low} to ${high}`,
    note: `${counted(rates.length, "target")}, n = ${formatCount(rates.reduce((sum, each) => sum + each.trials, 0))}`,
  };
}

export interface Outcomes {
  readonly passed: number;
  readonly failed: number;
  readonly unscored: number;
  readonly errored: number;
}

/** Counts the probes of all columns by what came of them. */
export function outcomesOf(columns: readonly ColumnResults[]): Outcomes {
  const sum = (count: (estimate: ColumnResults["estimate"]) => number) =>
    columns.reduce((total, { estimate }) => total + count(estimate), 0);
  const passed = sum(({ passRate }) => Math.round((passRate.share ?? 0) * passRate.trials));
  const judged = sum(({ passRate }) => passRate.trials);
  return {
    passed,
    failed: judged - passed,
    unscored: Math.max(0, sum(({ completed }) => completed) - judged),
    errored: sum(({ errored }) => errored),
  };
}
