import { expect, test } from "vitest";
import type { Comparison } from "../api/types";

import { ALL_TARGETS } from "./comparison";
import { comparisonsOf, figuresOf, MOST_PAIRED, pairsOf, refusalText, targetsOf } from "./pairs";
import { type NumberedRun, numbered } from "./trend";

const runs = (count: number, baseline: string | null = null): NumberedRun[] =>
  numbered(
    Array.from({ length: count }, (_, index) => ({ runId: `run_${index + 1}` }) as NumberedRun),
    baseline,
  );
const [older, newer] = runs(2) as [NumberedRun, NumberedRun];
const PAIR = { older, newer };

test("each pair is there once, with the older run first", () => {
  expect(pairsOf(runs(3)).map((each) => [each.older.number, each.newer.number])).toEqual([
    [1, 2],
    [1, 3],
    [2, 3],
  ]);
  expect(pairsOf(runs(MOST_PAIRED))).toHaveLength(28);
  expect(pairsOf(runs(1))).toEqual([]);
});

const side = (runId: string, targets: string[] = []) => ({ runId, targets, prompts: [], rescoreId: null });
const listed = (id: string, one: string, other: string, targets: string[] = []) => ({
  id,
  baseline: side(one, targets),
  comparison: side(other),
  createdAt: `2026-11-2${id}`,
});

test("comparisons of both runs as a whole count, whichever is their baseline, the newest first", () => {
  const found = (...given: ReturnType<typeof listed>[]) => comparisonsOf(PAIR, given).map((each) => each.id);
  expect(found(listed("1", "run_1", "run_2"), listed("2", "run_2", "run_1"))).toEqual(["2", "1"]);
  expect(found(listed("2", "run_1", "run_2"), listed("1", "run_1", "run_2"))).toEqual(["2", "1"]);
  expect(found(listed("1", "run_1", "run_2", ["sim/one"]), listed("2", "run_1", "run_3"))).toEqual([]);
  expect(found(listed("1", "run_1", "run_1"))).toEqual([]);
});

test("a comparison that is listed of both its runs counts once, and not more than four are read", () => {
  const found = (...ids: string[]) =>
    comparisonsOf(
      PAIR,
      ids.map((id) => listed(id, "run_1", "run_2")),
    ).map((each) => each.id);
  expect(found("1", "2", "1")).toEqual(["2", "1"]);
  expect(found("1", "2", "3", "4", "5")).toEqual(["5", "4", "3", "2"]);
});

const row = (modelId: string, difference: number | null, verdict = "HIGHER") => ({
  baseline: [{ label: null, modelId, promptId: null }],
  comparison: [{ label: null, modelId, promptId: null }],
  difference,
  interval: difference === null ? null : [difference - 0.1, difference + 0.2],
  scenarios: 8,
  verdict,
  operations: {
    baseline: { costUsd: 0.01, tokens: null },
    comparison: { costUsd: 0.04, tokens: 12 },
    difference: { costUsd: 0.03, tokens: null },
  },
  sentence: "No scenario has results on both sides.",
});
const compared = (baseline: string, ...rows: ReturnType<typeof row>[]) =>
  ({
    baseline: side(baseline),
    figures: { metric: "PASS_RATE", alpha: 0.05, rows, overall: rows.length > 1 ? row("all", 0.3) : null },
  }) as unknown as Comparison;

test("a difference is that of the newer run to the older", () => {
  const forward = figuresOf(PAIR, compared("run_1", row("sim/one", 0.5)), {});
  expect(forward).toMatchObject({ difference: 0.5, interval: [0.4, 0.7], verdict: "HIGHER", scenarios: 8 });
  const reversed = figuresOf(PAIR, compared("run_2", row("sim/one", 0.5)), {});
  expect(reversed).toMatchObject({ difference: -0.5, interval: [-0.7, -0.4], verdict: "LOWER" });
});

test("a target can be chosen; without a choice all count together", () => {
  const both = compared("run_1", row("sim/one", 0.5), row("sim/two", null));
  expect(figuresOf(PAIR, both, {})).toMatchObject({ difference: 0.3 });
  expect(figuresOf(PAIR, both, { target: "sim/one" })).toMatchObject({ difference: 0.5 });
  expect(figuresOf(PAIR, both, { target: "sim/three" })).toBe("not a target of both runs");
  expect(figuresOf(PAIR, both, { target: "sim/two" })).toBe(
    "not comparable: No scenario has results on both sides.",
  );
  expect(targetsOf([compared("run_1", row("sim/one", 0.5)), both])).toEqual([
    ALL_TARGETS,
    "sim/one",
    "sim/two",
  ]);
});

test("a measure that was not tested is the newer run's minus the older one's", () => {
  const forward = figuresOf(PAIR, compared("run_1", row("sim/one", 0.5)), { measure: "cost" });
  expect(forward).toEqual({ figure: "costUsd", difference: 0.03, older: 0.01, newer: 0.04 });
  const reversed = figuresOf(PAIR, compared("run_2", row("sim/one", 0.5)), { measure: "cost" });
  expect(reversed).toEqual({ figure: "costUsd", difference: -0.03, older: 0.04, newer: 0.01 });
});

test("a pair without the measure says so in words", () => {
  const one = compared("run_1", row("sim/one", 0.5));
  expect(figuresOf(PAIR, one, { measure: "passRate" })).toMatchObject({ difference: 0.5 });
  expect(figuresOf(PAIR, one, { measure: "decision" })).toBe(
    "not compared by the mean decision, only by the pass rate",
  );
  expect(figuresOf(PAIR, one, { measure: "tokens" })).toBe(
    "tokens of a conversation: not known of both runs",
  );
});

test.each([
  [
    "comparison: NOT_MATCHABLE: the scenarios of A and B share nothing",
    "the scenarios of A and B share nothing",
  ],
  ["NOT_MATCHABLE: the scenarios of A and B share nothing", "the scenarios of A and B share nothing"],
  ["baseline.runId: there is no run run_1", "there is no run run_1"],
  ["the run run_1 is RUNNING: wait until it has ended", "the run run_1 is RUNNING: wait until it has ended"],
])("a refusal is in words: %s", (reason, words) => {
  expect(refusalText(reason)).toBe(words);
});
