import type { Figures } from "../api/types";
import { type Axis, decisionAxis } from "./estimates";
import { formatDecimal, formatShare } from "./format";

export interface Rank {
  readonly name: string;
  readonly value: number;
  readonly interval: readonly number[] | null;
  readonly n: number;
}

export interface Ranking {
  readonly what: string;
  readonly axis: Axis;
  readonly format: (value: number) => string;
  /** The highest value comes first. */
  readonly ranks: readonly Rank[];
}

const SHARES = { axis: { min: 0, max: 1 }, format: formatShare } as const;

/** Returns the compared figure of each target; null unless two have one. */
export function rankingOf({ metric, columns }: Pick<Figures, "metric" | "columns">): Ranking | null {
  const ranks = columns
    .map(({ name, estimate }): Rank | null => {
      if (metric === "DECISION") {
        const { mean, interval95, answers } = estimate.decision;
        return mean === null ? null : { name, value: mean, interval: interval95, n: answers };
      }
      const { share, interval95, trials } =
        metric === "OTHER_RATE"
          ? estimate.otherRate
          : metric === "PASS_RATE"
            ? estimate.passRate
            : (estimate.passRateBounds?.errorsAsFailures ?? estimate.passRate);
      return share === null ? null : { name, value: share, interval: interval95, n: trials };
    })
    .filter((each) => each !== null)
    .sort((one, other) => other.value - one.value);
  if (ranks.length < 2) return null;
  if (metric === "OTHER_RATE") return { what: "Share of undecided answers", ...SHARES, ranks };
  if (metric === "PASS_RATE_ERRORS_FAIL") return { what: "Pass rate if errors fail", ...SHARES, ranks };
  if (metric === "PASS_RATE") return { what: "Pass rate", ...SHARES, ranks };
  const axis = decisionAxis(columns);
  return axis && { what: "Mean decision", axis, format: formatDecimal, ranks };
}
