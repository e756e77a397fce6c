import type { ColumnResults } from "../api/types";
import { formatCount } from "./format";

const MAX_NAMED = 5;

type Checked = Pick<ColumnResults, "partlyChecked" | "leftOutChecks"> & { estimate: { completed: number } };

/** Returns null if each conversation has all checks that its author wrote. */
export function leftOutText(columns: readonly Checked[]): string | null {
  const partly = sum(columns.map((column) => column.partlyChecked));
  if (partly === 0) return null;
  const completed = sum(columns.map((column) => column.estimate.completed));
  const checks = new Map<string, number>();
  for (const column of columns)
    for (const [type, count] of Object.entries(column.leftOutChecks ?? {}))
      checks.set(type, (checks.get(type) ?? 0) + count);
  const noun =
    completed === 1 ? "conversation lacks checks that its" : "conversations lack checks that their";
  return `${formatCount(partly)} of ${formatCount(completed)} ${noun} author wrote (${describedChecks([...checks])})`;
}

/** Returns the types with their numbers, the most frequent first. */
export function describedChecks(checks: readonly (readonly [string, number])[]): string {
  const ordered = [...checks].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const named = ordered.slice(0, MAX_NAMED).map(([type, count]) => `${type} ${formatCount(count)}`);
  const others = sum(ordered.slice(MAX_NAMED).map(([, count]) => count));
  return named.join(", ") + (others > 0 ? ` and ${formatCount(others)} others` : "");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
