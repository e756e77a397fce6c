import { expect, test } from "vitest";
import type { ColumnResults } from "../api/types";

import { countDrawn, type NumberedRun, newestOf, numbered, type Results, shownText, trendOf } from "./trend";

const run = (id: string, status = "COMPLETED") =>
  ({ runId: id, name: null, status, createdAt: "2026-11-20T09:30:00Z", costUsd: null }) as NumberedRun;

function column(modelId: string, share: number | null, mean: number | null = null): ColumnResults {
  const passRate = {
    share,
    interval95: share === null ? null : [share - 0.1, share + 0.1],
    trials: share === null ? 0 : 8,
  };
  const decision = { mean, interval95: null, answers: mean === null ? 0 : 4 };
  return {
    label: null,
    modelId,
    promptId: null,
    estimate: { passRate, decision },
  } as unknown as ColumnResults;
}

const RUNS = numbered([run("a"), run("b", "RUNNING"), run("c"), run("d", "FAILED")], "a");
const RESULTS: Record<string, Results> = {
  a: [column("sim/one", 0.5, 3)],
  b: "running",
  c: [column("sim/one", 0.75), column("sim/two", 0.25)],
  d: [column("sim/one", null), column("sim/two", null)],
};
const trend = (measure: "PASS_RATE" | "DECISION") =>
  trendOf(RUNS, (each) => RESULTS[each.runId] ?? "", measure);

test("runs are numbered from the oldest, and the baseline is known", () => {
  expect(RUNS.map((each) => [each.number, each.isBaseline])).toEqual([
    [1, true],
    [2, false],
    [3, false],
    [4, false],
  ]);
});

test("what has no figure says why and is not 0", () => {
  const points = Object.fromEntries(trend("PASS_RATE").map((each) => [each.target, each.points]));
  expect(points["sim/one"]?.map((each) => each.estimate?.value ?? each.missing)).toEqual([
    0.5,
    "running",
    0.75,
    "failed",
  ]);
  expect(points["sim/two"]?.map((each) => each.estimate?.value ?? each.missing)).toEqual([
    "not in this run",
    "running",
    0.25,
    "failed",
  ]);
  expect(points["sim/one"]?.[0]?.estimate).toEqual({ value: 0.5, interval: [0.4, 0.6], count: 8 });
});

test("a rate of 0 is a figure", () => {
  const [series] = trendOf(RUNS.slice(0, 1), () => [column("sim/one", 0)], "PASS_RATE");
  expect(series?.points[0]?.estimate?.value).toBe(0);
});

test("targets without a figure of the measure are left out", () => {
  expect(trend("DECISION").map((each) => each.target)).toEqual(["sim/one"]);
  expect(trend("DECISION")[0]?.points[2]?.missing).toBe("no results");
});

test("runs with figures are counted once", () => {
  expect(countDrawn(trend("PASS_RATE"))).toBe(2);
  expect(countDrawn(trend("DECISION"))).toBe(1);
});

test("of many runs, the newest are shown, and the baseline", () => {
  const many = (baseline: string | null) =>
    numbered(
      Array.from({ length: 12 }, (_, index) => run(`run_${index + 1}`)),
      baseline,
    );
  const numbers = (baseline: string | null) => newestOf(many(baseline), 4).map((each) => each.number);
  expect(numbers(null)).toEqual([9, 10, 11, 12]);
  expect(numbers("run_2")).toEqual([2, 10, 11, 12]);
  expect(numbers("run_9")).toEqual(numbers(null));
  expect(newestOf(many("run_2"), 12)).toHaveLength(12);
  const all = many("run_2");
  expect(shownText(newestOf(all, 4), all, "drawn")).toBe(
    "4 of 12 runs are drawn: the newest and the baseline.",
  );
});
