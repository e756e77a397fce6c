import { expect, test } from "vitest";
import type { CaseName } from "../api/types";
import { changedCases } from "./changed_cases";
import { emptyTable, Outcome, type OutcomeCode } from "./probe_table";

const { PASSED, FAILED, ERRORED } = Outcome;

/** Two repeats of each case with one target. */
function tableOf(...cases: readonly (readonly [OutcomeCode, OutcomeCode])[]) {
  const table = emptyTable({ total: 2 * cases.length, columns: 1, repeats: 2 });
  table.outcome.set(cases.flat());
  cases.forEach((_, row) => {
    table.firstIndex[row] = 2 * row;
  });
  return table;
}

const named = (...ids: readonly string[]): CaseName[] =>
  ids.map((scenarioId, index) => ({
    index,
    scenarioId,
    scenarioName: null,
    personaId: null,
    personaName: null,
    dimensions: {},
  }));

test("a case has changed if another share of its repeats passed, wherever it stands in the other run", () => {
  const earlier = tableOf([PASSED, PASSED], [PASSED, FAILED], [FAILED, FAILED]);
  const now = tableOf([FAILED, PASSED], [FAILED, FAILED], [PASSED, PASSED]);
  expect([...changedCases(now, named("b", "c", "a"), earlier, named("a", "b", "c"))]).toEqual([]);
  expect([...changedCases(now, named("a", "b", "c"), earlier, named("a", "b", "c"))]).toEqual([0, 1, 2]);
});

test("errors are no results, and a case of one run alone has changed", () => {
  const earlier = tableOf([PASSED, ERRORED], [ERRORED, ERRORED]);
  const now = tableOf([PASSED, PASSED], [PASSED, ERRORED]);
  expect([...changedCases(now, named("a", "new"), earlier, named("a", "gone"))]).toEqual([1]);
});
