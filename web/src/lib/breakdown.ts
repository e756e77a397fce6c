import type { Breakdown } from "../api/types";

/** Tells which figures a breakdown has. */

type Groups = Breakdown["groups"];

const estimates = (groups: Groups) =>
  groups.flatMap((group) => group.columns.map((column) => column.estimate));

export function hasVerdicts(groups: Groups): boolean {
  return estimates(groups).some((estimate) => estimate.passRate.trials > 0);
}

export function hasDecisions(groups: Groups): boolean {
  return estimates(groups).some((estimate) => estimate.distribution.length > 0);
}
