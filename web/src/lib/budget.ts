/** Parses a budget, and explains what it allows. */

export const MAX_BUDGET_USD = 1_000_000;
export const MAX_WORKSPACE_BUDGET_USD = 10_000_000;
/** This error is for a text that is no budget of a run. */
export const BUDGET_ERROR = "An amount such as 5 or 0.25, at most 1,000,000";
const MIN_BUDGET_USD = 0.000001;

/** Returns the amount in USD; null for an empty field, undefined for text that is no amount. */
export function parseBudget(text: string, max = MAX_BUDGET_USD): number | null | undefined {
  const trimmed = text.trim().replace(/^\$/, "");
  if (trimmed === "") return null;
  if (!/^\d{1,8}(\.\d{0,8})?$|^\.\d{1,8}$/.test(trimmed)) return undefined;
  const amount = Number(trimmed);
  return amount >= MIN_BUDGET_USD && amount <= max ? amount : undefined;
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
