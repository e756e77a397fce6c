/** A budget as it is typed, and what it allows. */

import { CreateRun } from "../api/limits";
import { type Bounds, parseDecimal } from "./forms";

/** What is wrong with a text that is no budget of a run. */
export const BUDGET_ERROR = `An amount such as 5 or 0.25, at most ${CreateRun.maxBudgetUsd.max.toLocaleString("en")}`;

/** The amount in USD; null for an empty field, undefined for what is no amount. */
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

/** Whether a start above its own budget will have to be confirmed: only the expected cost counts. */
export function needsConfirmation(
  budget: number | null | undefined,
  estimate: { confirmableUsd: number } | undefined,
): boolean {
  return typeof budget === "number" && estimate !== undefined && estimate.confirmableUsd > budget;
}

/** Why a start has to be confirmed, as a sentence: the server's reason without what a program does about it. */
export function refusalReason(detail: string): string {
  const reason = detail.split("; repeat the request")[0] ?? "";
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}

/** What of a budget is used, as shares of its length, the last of them cut at its end. */
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
