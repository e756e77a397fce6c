/** The results of a run by target as a table of plain values. */
import type { ColumnResults } from "../api/queries";
import { columnName } from "./estimates";

type Value = string | number | null;

const HEAD = [
  "target",
  "model",
  "probes",
  "completed",
  "errored",
  "judged",
  "pass rate",
  "pass rate low",
  "pass rate high",
  "decided",
  "mean decision",
  "mean decision low",
  "mean decision high",
  "time p50 ms",
  "time p95 ms",
  "tokens",
  "cost usd",
];

/** With its head; intervals are of 95%. */
export function resultsTable(columns: readonly ColumnResults[]): Value[][] {
  return [HEAD, ...columns.map(rowOf)];
}

function rowOf(column: ColumnResults): Value[] {
  const { estimate, operations } = column;
  const { passRate, decision } = estimate;
  return [
    columnName(column),
    column.modelId,
    column.probes,
    estimate.completed,
    estimate.errored,
    passRate.trials,
    passRate.share,
    ...bounds(passRate.interval95),
    decision.answers,
    decision.mean,
    ...bounds(decision.interval95),
    operations.durationMs?.p50 ?? null,
    operations.durationMs?.p95 ?? null,
    column.tokens,
    operations.costUsd,
  ];
}

function bounds(interval: readonly number[] | null): [number | null, number | null] {
  return [interval?.[0] ?? null, interval?.[1] ?? null];
}
