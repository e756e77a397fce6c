import type { ColumnResults } from "../api/types";
import { columnName } from "./estimates";
import { costOf, roleCostName, rolesOf } from "./role_costs";

type Value = string | number | null;
type Field = readonly [string, (column: ColumnResults) => Value];

const RESULTS: readonly Field[] = [
  ["target", columnName],
  ["model", (column) => column.modelId],
  ["probes", (column) => column.probes],
  ["completed", ({ estimate }) => estimate.completed],
  ["errored", ({ estimate }) => estimate.errored],
  ["judged", ({ estimate }) => estimate.passRate.trials],
  ["pass rate", ({ estimate }) => estimate.passRate.share],
  ["pass rate low", ({ estimate }) => estimate.passRate.interval95?.[0] ?? null],
  ["pass rate high", ({ estimate }) => estimate.passRate.interval95?.[1] ?? null],
];
const CORRECTED: readonly Field[] = [
  ["labels", ({ judgeAccuracy }) => judgeAccuracy?.labels ?? null],
  ["kappa", ({ judgeAccuracy }) => judgeAccuracy?.kappa ?? null],
  ["corrected pass rate", ({ correctedPassRate }) => correctedPassRate?.rate ?? null],
  ["corrected pass rate low", ({ correctedPassRate }) => correctedPassRate?.interval95?.[0] ?? null],
  ["corrected pass rate high", ({ correctedPassRate }) => correctedPassRate?.interval95?.[1] ?? null],
];
const DECISIONS: readonly Field[] = [
  ["decided", ({ estimate }) => estimate.decision.answers],
  ["mean decision", ({ estimate }) => estimate.decision.mean],
  ["mean decision low", ({ estimate }) => estimate.decision.interval95?.[0] ?? null],
  ["mean decision high", ({ estimate }) => estimate.decision.interval95?.[1] ?? null],
];
const OPERATIONS: readonly Field[] = [
  ["time p50 ms", ({ operations }) => operations.durationMs?.p50 ?? null],
  ["time p95 ms", ({ operations }) => operations.durationMs?.p95 ?? null],
  ["tokens", (column) => column.tokens],
];

/**
 * Returns the table with its head; intervals are of 95%. It has decisions only if the definition has a rule for them.
 */
export function resultsTable(columns: readonly ColumnResults[]): Value[][] {
  const hasDecisions = columns.some(({ estimate }) => estimate.distribution.length > 0);
  const costs = rolesOf(columns).map(
    (role): Field => [`${roleCostName(role).toLowerCase()} usd`, (column) => costOf(column, role)],
  );
  const isLabelled = columns.some(({ judgeAccuracy }) => judgeAccuracy);
  const rates = [...RESULTS, ...(isLabelled ? CORRECTED : [])];
  const fields = [...rates, ...(hasDecisions ? DECISIONS : []), ...OPERATIONS, ...costs];
  return [fields.map(([name]) => name), ...columns.map((column) => fields.map(([, read]) => read(column)))];
}
