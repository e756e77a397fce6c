import type { Run } from "../api/types";
import { overallRate } from "./pass_rates";

/** The server sorts by the time of creation. The page sorts the runs that are loaded by the others. */
export const RUN_ORDERS = [
  "createdAt",
  "-rate",
  "rate",
  "-cost",
  "cost",
  "-duration",
  "duration",
  "name",
] as const;
export type RunOrder = (typeof RUN_ORDERS)[number];

export const ORDER_WORDS: Record<RunOrder, string> = {
  createdAt: "oldest first",
  "-rate": "highest pass rate",
  rate: "lowest pass rate",
  "-cost": "highest cost",
  cost: "lowest cost",
  "-duration": "longest",
  duration: "shortest",
  name: "name",
};

export const nameOf = (run: Run): string => run.name ?? run.definitionName;

const FIGURES: Record<string, (run: Run) => number | null> = {
  rate: (run) => overallRate(run.rates),
  cost: (run) => run.spend.costUsd,
  duration: (run) => run.durationMs,
};

/** Tells whether the page sorts, so that runs that are not loaded are not in the order. */
export function isSortedHere(order: RunOrder | undefined): boolean {
  return order !== undefined && order !== "createdAt";
}

/** Runs without the figure come last in either direction. */
export function sortRuns(runs: readonly Run[], order: RunOrder | undefined): readonly Run[] {
  if (order === undefined || order === "createdAt") return runs;
  if (order === "name") return runs.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)));
  const figure = FIGURES[order.replace("-", "")] ?? (() => null);
  const direction = order.startsWith("-") ? -1 : 1;
  return runs.toSorted((one, other) => {
    const [a, b] = [figure(one), figure(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return direction * (a - b);
  });
}
