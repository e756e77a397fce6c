import { isTerminal } from "./run_status";

interface Row {
  readonly difference: number | null;
  readonly interval: readonly number[] | null;
}

/** Returns an axis that all differences share, the same on both sides of 0. */
export function differenceAxis(rows: readonly Row[]): { min: number; max: number } {
  const ends = rows.flatMap((row) => [row.difference ?? 0, ...(row.interval ?? [])]).map(Math.abs);
  const max = Math.max(0, ...ends) || 1;
  return { min: -max, max };
}

interface Summary {
  readonly runs: readonly { readonly status: string }[];
  readonly reasons: readonly { readonly isInProgress: boolean }[];
}

/** Tells whether a summary changes by itself: a run goes on, or its comparison is awaited. */
export function mayChange(summary: Summary | undefined): boolean {
  if (summary === undefined) return false;
  return (
    summary.runs.some((run) => !isTerminal(run.status)) || summary.reasons.some((each) => each.isInProgress)
  );
}
