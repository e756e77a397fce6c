/** Parses a budget, and explains what it allows. */

import { CreateRun } from "../api/limits";
import { type Bounds, parseDecimal } from "./forms";

/** This error is for a text that is no budget of a run. */
export const BUDGET_ERROR = `An amount such as 5 or 0.25, at most ${CreateRun.maxBudgetUsd.max.toLocaleString("en")}`;

/** Returns the amount in USD; null for an empty field, undefined for text that is no amount. */
export function parseBudget(
  text: string,
  bounds: Bounds = CreateRun.maxBudgetUsd,
): number | null | undefined {
  return parseDecimal(text.trim().replace(/^\$/, ""), bounds);
}

export interface Interval {
  readonly low: number;
  readonly expected: number;
  readonly high: number;
}

/** Tells whether a start above its own budget will have to be confirmed: only the expected cost counts. */
export function needsConfirmation(
  budget: number | null | undefined,
  estimate: { confirmableUsd: number } | undefined,
): boolean {
  return typeof budget === "number" && estimate !== undefined && estimate.confirmableUsd > budget;
}

/** Returns the server's reason for a confirmation as a sentence, without its advice for programs. */
export function refusalReason(detail: string): string {
  const reason = detail.split("; repeat the request")[0] ?? "";
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}

/** Returns the used parts of a budget as shares of its length, the last of them cut at its end. */
export function budgetShares(use: {
  maxBudgetUsd: number;
  spentUsd: number;
  uncertainUsd: number;
  reservedUsd: number;
}): { spent: number; uncertain: number; reserved: number } {
  let left = 1;
  const share = (amount: number) => {
    const taken = Math.min(left, Math.max(0, amount / use.maxBudgetUsd));
    left -= taken;
    return taken;
  };
  return { spent: share(use.spentUsd), uncertain: share(use.uncertainUsd), reserved: share(use.reservedUsd) };
}
