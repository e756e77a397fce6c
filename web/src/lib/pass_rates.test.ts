import { expect, test } from "vitest";
import type { ColumnResults } from "../api/types";

import { outcomesOf, passRates } from "./pass_rates";

function column(share: number | null, trials: number): ColumnResults {
  const passRate = { share, trials, interval95: share === null ? null : [share - 0.1, share + 0.1] };
  return { estimate: { passRate } } as unknown as ColumnResults;
}

test("one target has its rate with the interval and the number of results", () => {
  expect(passRates([column(0.82, 60), column(null, 0)])).toEqual({
    rate: "82.0%",
    note: "72.0% to 92.0%, n = 60",
  });
});

test("several targets have the lowest and the highest rate", () => {
  expect(passRates([column(0.82, 60), column(0.5, 60), column(0.7, 60)])).toEqual({
    rate: "50.0% to 82.0%",
    note: "3 targets, n = 180",
  });
  expect(passRates([column(0.5, 10), column(0.5, 10)])?.rate).toBe("50.0%");
});

test("a run that is not judged has none", () => expect(passRates([column(null, 0)])).toBeNull());

function outcomes(share: number | null, trials: number, completed: number, errored: number): ColumnResults {
  return { estimate: { passRate: { share, trials }, completed, errored } } as unknown as ColumnResults;
}

test("a run has passed, failed, unscored and errored conversations", () => {
  expect(outcomesOf([outcomes(1 / 3, 9, 10, 2), outcomes(0, 5, 5, 0)])).toEqual({
    passed: 3,
    failed: 11,
    unscored: 1,
    errored: 2,
  });
  expect(outcomesOf([outcomes(null, 0, 4, 0)])).toEqual({ passed: 0, failed: 0, unscored: 4, errored: 0 });
  expect(outcomesOf([])).toEqual({ passed: 0, failed: 0, unscored: 0, errored: 0 });
});
