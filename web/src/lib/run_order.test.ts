import { expect, test } from "vitest";
import type { Run } from "../api/types";
import { RUN_ORDERS, type RunOrder, sortRuns } from "./run_order";

function run(name: string, passed: number | null, costUsd: number | null, durationMs: number | null): Run {
  const rates = passed === null ? null : { passed, failed: 10 - passed };
  return { name, definitionName: "d", rates, spend: { costUsd }, durationMs } as unknown as Run;
}

const RUNS = [run("b", 5, 3, 20), run("a", null, null, null), run("c", 9, 1, 10)];
const sorted = (order: RunOrder | undefined) => sortRuns(RUNS, order).map((each) => each.name);

test.each([
  [undefined, ["b", "a", "c"]],
  ["createdAt", ["b", "a", "c"]],
  ["-rate", ["c", "b", "a"]],
  ["rate", ["b", "c", "a"]],
  ["-cost", ["b", "c", "a"]],
  ["cost", ["c", "b", "a"]],
  ["-duration", ["b", "c", "a"]],
  ["duration", ["c", "b", "a"]],
  ["name", ["a", "b", "c"]],
] as const)("sorted by %s, runs without the figure come last", (order, names) =>
  expect(sorted(order)).toEqual(names),
);

test("each order is tested", () => expect(RUN_ORDERS).toHaveLength(8));
