import type { ColumnResults } from "../api/types";

const NAMES = {
  target: "Target cost",
  judge: "Judge cost",
  persona: "Simulated user cost",
  operation: "Operations cost",
} as const;
export type CostRole = keyof typeof NAMES;
const ROLES = Object.keys(NAMES) as CostRole[];

export function roleCostName(role: CostRole): string {
  return NAMES[role];
}

/** Returns the targets, and the other roles whose models were called for one of them. */
export function rolesOf(columns: readonly ColumnResults[]): CostRole[] {
  return ROLES.filter(
    (role) =>
      role === "target" ||
      columns.some(({ operations }) => operations.costs.some((cost) => cost.role === role)),
  );
}

/**
 * Returns zero if other models were called for this target; null if a price is unknown, or no model was called at all.
 */
export function costOf({ operations }: ColumnResults, role: CostRole): number | null {
  if (operations.costs.length === 0) return null;
  const found = operations.costs.find((cost) => cost.role === role);
  return found === undefined ? 0 : found.costUsd;
}
