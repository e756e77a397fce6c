/** What the screen of an experiment computes. */
import { isTerminal } from "./run_status";

interface Row {
  readonly difference: number | null;
  readonly interval: readonly number[] | null;
}

/** An axis that all differences share, the same on both sides of 0. */
export function differenceAxis(rows: readonly Row[]): { min: number; max: number } {
  const ends = rows.flatMap((row) => [row.difference ?? 0, ...(row.interval ?? [])]).map(Math.abs);
  const max = Math.max(0, ...ends) || 1;
  return { min: -max, max };
}

/** With its sign, because it is a difference. */
export function signed(value: number): string {
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(2)}`;
}

export function signedInterval(interval: readonly number[] | null): string {
  const [low, high] = interval ?? [];
  return low === undefined || high === undefined ? "" : `${signed(low)} to ${signed(high)}`;
}

export function pText(p: number | null): string {
  if (p === null) return "–";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

interface Summary {
  readonly runs: readonly { readonly status: string }[];
  readonly reasons: readonly { readonly isInProgress: boolean }[];
}

/** Whether anything of a summary changes by itself: a run goes on, or its comparison is awaited. */
export function mayChange(summary: Summary | undefined): boolean {
  if (summary === undefined) return false;
  return (
    summary.runs.some((run) => !isTerminal(run.status)) || summary.reasons.some((each) => each.isInProgress)
  );
}
