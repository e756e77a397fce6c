import type { RunRates } from "../api/types";
import { columnName } from "./estimates";
import { counted, formatCount, formatShare, withInterval } from "./format";

export interface RateMark {
  readonly share: number;
  readonly interval: readonly number[] | null;
  /** It names the target, and says its rate with the interval and the number of results. */
  readonly text: string;
}

export interface PassRates {
  /** It is one rate, or the range from the lowest to the highest. */
  readonly text: string;
  readonly marks: readonly RateMark[];
  /** It names the targets that have no mark, because lists have the first ones only. */
  readonly rest: string;
}

/** Returns null if nothing was judged. */
export function passRates(rates: RunRates): PassRates | null {
  const marks = rates.columns.flatMap((column) =>
    column.passRate === null
      ? []
      : {
          share: column.passRate,
          interval: column.interval95,
          text: `${columnName(column)}: ${withInterval(column.passRate, column.interval95, formatShare)}, n = ${formatCount(column.judged)}`,
        },
  );
  if (marks.length === 0) return null;
  const shares = marks.map((each) => each.share);
  const [low, high] = [Math.min(...shares), Math.max(...shares)].map(formatShare);
  const left = rates.columnCount - rates.columns.length;
  return {
    text: low === high ? `${low}` : `${low} to ${high}`,
    marks,
    rest: left > 0 ? `${counted(left, "further target")} not shown` : "",
  };
}

/** Returns the share of all judged conversations of a run that passed; null if there are none. */
export function overallRate(rates: RunRates | null): number | null {
  const judged = rates ? rates.passed + rates.failed : 0;
  return rates && judged > 0 ? rates.passed / judged : null;
}
