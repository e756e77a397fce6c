import { expect, test } from "vitest";
import type { Comparison } from "../api/comparisons";
import { ALL_TARGETS } from "./comparison";
import { comparisonOf, figuresOf, MOST_PAIRED, pairsOf, targetsOf } from "./pairs";
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

test("the newest comparison of both runs as a whole counts, whichever is its baseline", () => {
  const found = (...given: ReturnType<typeof listed>[]) => comparisonOf(PAIR, given)?.id;
  expect(found(listed("1", "run_1", "run_2"), listed("2", "run_2", "run_1"))).toBe("2");
  expect(found(listed("2", "run_1", "run_2"), listed("1", "run_1", "run_2"))).toBe("2");
  expect(found(listed("1", "run_1", "run_2", ["sim/one"]), listed("2", "run_1", "run_3"))).toBeUndefined();
  expect(found(listed("1", "run_1", "run_1"))).toBeUndefined();
});

const row = (modelId: string, difference: number | null, verdict = "HIGHER") => ({
  baseline: [{ label: null, modelId, promptId: null }],
  comparison: [{ label: null, modelId, promptId: null }],
  difference,
  interval: difference === null ? null : [difference - 0.1, difference + 0.2],
  scenarios: 8,
  verdict,
  sentence: "No scenario has results on both sides.",
});
const compared = (baseline: string, ...rows: ReturnType<typeof row>[]) =>
  ({
    baseline: side(baseline),
    figures: { metric: "PASS_RATE", alpha: 0.05, rows, overall: rows.length > 1 ? row("all", 0.3) : null },
  }) as unknown as Comparison;

test("a difference is that of the newer run to the older", () => {
  const forward = figuresOf(PAIR, compared("run_1", row("sim/one", 0.5)), undefined);
  expect(forward).toMatchObject({ difference: 0.5, interval: [0.4, 0.7], verdict: "HIGHER", scenarios: 8 });
  const reversed = figuresOf(PAIR, compared("run_2", row("sim/one", 0.5)), undefined);
  expect(reversed).toMatchObject({ difference: -0.5, interval: [-0.7, -0.4], verdict: "LOWER" });
});

test("a target can be chosen; without a choice all count together", () => {
  const both = compared("run_1", row("sim/one", 0.5), row("sim/two", null));
  expect(figuresOf(PAIR, both, undefined)).toMatchObject({ difference: 0.3 });
  expect(figuresOf(PAIR, both, "sim/one")).toMatchObject({ difference: 0.5 });
  expect(figuresOf(PAIR, both, "sim/three")).toBe("not a target of both runs");
  expect(figuresOf(PAIR, both, "sim/two")).toBe("not comparable: No scenario has results on both sides.");
  expect(targetsOf([compared("run_1", row("sim/one", 0.5)), both])).toEqual([
    ALL_TARGETS,
    "sim/one",
    "sim/two",
  ]);
});
