import { expect, test } from "vitest";
import type { ColumnResults } from "../api/types";

import { resultsTable } from "./results_table";

const rate = { share: 0.5, trials: 2, interval95: [0.1, 0.9] };
const decision = { answers: 0, mean: null, interval95: null };
type Cost = { role: string; calls: number; costUsd: number | null };

function column(targetId: string, costs: Cost[], distribution: unknown[] = []): ColumnResults {
  return {
    targetId,
    label: targetId,
    modelId: "sim/steady",
    promptId: null,
    probes: 2,
    tokens: 30,
    estimate: { completed: 2, errored: 0, passRate: rate, decision, distribution },
    operations: { durationMs: null, costs },
  } as unknown as ColumnResults;
}

const cost = (role: string, costUsd: number | null): Cost => ({ role, calls: 1, costUsd });

test("a definition without a decision rule has no columns for decisions", () => {
  const [head, row] = resultsTable([column("a", [])]);
  expect(head?.join()).not.toContain("decision");
  expect(row).toHaveLength(head?.length ?? 0);
  expect(resultsTable([column("a", [], [{ code: "other" }])])[0]).toContain("mean decision");
});

test("each role that was called has a column, with zero for a target that did not call it", () => {
  const [head, first, second, third] = resultsTable([
    column("a", [cost("target", 0.25), cost("judge", null)]),
    column("b", [cost("target", 0)]),
    column("c", []),
  ]);
  expect(head?.slice(-2)).toEqual(["target cost usd", "judge cost usd"]);
  expect([first, second, third].map((row) => row?.slice(-2))).toEqual([
    [0.25, null],
    [0, 0],
    [null, null],
  ]);
});

test("corrected rates are columns only if people have labelled", () => {
  const labelled = {
    ...column("a", []),
    judgeAccuracy: { labels: 40, kappa: 0.71 },
    correctedPassRate: { rate: 0.6, interval95: [0.5, 0.7] },
  } as unknown as ColumnResults;
  const [head, row, other] = resultsTable([labelled, column("b", [])]);
  const at = head?.indexOf("labels") ?? -1;
  expect(row?.slice(at, at + 5)).toEqual([40, 0.71, 0.6, 0.5, 0.7]);
  expect(other?.slice(at, at + 5)).toEqual([null, null, null, null, null]);
  expect(resultsTable([column("b", [])])[0]).not.toContain("labels");
});
