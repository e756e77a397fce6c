import { expect, test } from "vitest";
import type { Comparison } from "../api/types";

import type { Metric } from "./comparison";
import {
  commonMeasure,
  lacksMeasure,
  measuredBy,
  measureName,
  measureOf,
  measuresOf,
  measureTitle,
  metricOf,
  PAIR_MEASURES,
} from "./pair_measures";

interface Given {
  costUsd?: number | null;
  otherRate?: number | null;
  totalVariation?: number | null;
}
const compared = (metric: Metric, given: Given = {}) => {
  const { costUsd = null, otherRate = null, totalVariation = null } = given;
  const nothing = { tokens: null, medianDurationMs: null, p95DurationMs: null, errorRate: null };
  const row = {
    baseline: [],
    comparison: [],
    distribution: { totalVariation },
    operations: { difference: { ...nothing, costUsd, otherRate } },
  };
  return { figures: { metric, rows: [row], overall: null } } as unknown as Pick<Comparison, "figures">;
};
const GOING = { figures: null };

test("the measures are the pass rate and those that any comparison has", () => {
  expect(measuresOf([])).toEqual([]);
  expect(measuresOf([GOING])).toEqual([]);
  expect(measuresOf([compared("PASS_RATE")])).toEqual(["passRate"]);
  expect(measuresOf([GOING, compared("DECISION"), compared("DECISION", { costUsd: 0 })])).toEqual([
    "passRate",
    "decision",
    "cost",
  ]);
});

test("decisions can be chosen where both sides have them, whatever was compared", () => {
  expect(measuresOf([compared("PASS_RATE", { totalVariation: 0, otherRate: 0.1 })])).toEqual([
    "passRate",
    "decision",
    "otherRate",
  ]);
});

test("comparisons have a common measure if all were made with one metric", () => {
  expect(commonMeasure([compared("DECISION"), GOING, compared("DECISION")])).toBe("decision");
  expect(commonMeasure([compared("DECISION"), compared("PASS_RATE")])).toBeUndefined();
  expect(commonMeasure([GOING])).toBeUndefined();
});

test("of the comparisons of a pair, that by the measure is shown, or else the newest", () => {
  const [newest, older] = [compared("DECISION"), compared("PASS_RATE")];
  expect(measuredBy([newest, older], "passRate")).toBe(older);
  expect(measuredBy([newest, older], "cost")).toBe(newest);
  expect(measuredBy([newest, older], undefined)).toBe(newest);
  expect(measuredBy([newest], "passRate")).toBe(newest);
  expect(measuredBy([], "passRate")).toBeUndefined();
});

test("only a measure that must be tested may need another comparison", () => {
  expect(lacksMeasure(compared("DECISION"), "passRate")).toBe(true);
  expect(lacksMeasure(compared("PASS_RATE"), "passRate")).toBe(false);
  expect(lacksMeasure(compared("PASS_RATE"), "otherRate")).toBe(false);
  expect(lacksMeasure(compared("PASS_RATE"), "cost")).toBe(false);
  expect(lacksMeasure(compared("PASS_RATE"), undefined)).toBe(false);
  expect(lacksMeasure(GOING, "passRate")).toBe(false);
});

test("each measure has a name of its own, and each metric its measure", () => {
  expect(new Set(PAIR_MEASURES.map(measureName)).size).toBe(PAIR_MEASURES.length);
  expect(measureTitle("passRate")).toBe("Pass rate");
  for (const metric of ["PASS_RATE", "PASS_RATE_ERRORS_FAIL", "DECISION", "OTHER_RATE"] as const)
    expect(metricOf(measureOf(metric))).toBe(metric);
});
