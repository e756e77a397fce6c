import { expect, test } from "vitest";
import type { RunRates } from "../api/types";
import { overallRate, passRates } from "./pass_rates";

function rates(shares: readonly (number | null)[], changes: Partial<RunRates> = {}): RunRates {
  const columns = shares.map((passRate, number) => ({
    label: `target ${number + 1}`,
    modelId: "sim/steady",
    targetId: `target ${number + 1}`,
    promptId: null,
    promptLabel: null,
    connectorId: null,
    passed: 0,
    judged: passRate === null ? 0 : 60,
    passRate,
    interval95: passRate === null ? null : [passRate - 0.1, passRate + 0.1],
  }));
  return { passed: 3, failed: 1, unscored: 0, errored: 0, columns, columnCount: columns.length, ...changes };
}

test("one target has its rate, and its mark the interval and the number of results", () => {
  expect(passRates(rates([0.82, null]))).toEqual({
    text: "82.0%",
    marks: [{ share: 0.82, interval: [0.72, 0.9199999999999999], text: expect.any(String) }],
    rest: "",
  });
  expect(passRates(rates([0.82]))?.marks[0]?.text).toBe("target 1: 82.0% (72.0% to 92.0%), n = 60");
});

test("several targets have the lowest and the highest rate", () => {
  expect(passRates(rates([0.82, 0.5, 0.7]))?.text).toBe("50.0% to 82.0%");
  expect(passRates(rates([0.5, 0.5]))?.text).toBe("50.0%");
});

test("targets without a mark are counted", () =>
  expect(passRates(rates([0.5], { columnCount: 3 }))?.rest).toBe("2 further targets not shown"));

test("a run that is not judged has none", () => {
  expect(passRates(rates([null]))).toBeNull();
  expect(overallRate(rates([null], { passed: 0, failed: 0, unscored: 4 }))).toBeNull();
  expect(overallRate(null)).toBeNull();
});

test("the rate of a run is that of all its judged conversations", () =>
  expect(overallRate(rates([0.5]))).toBe(0.75));
