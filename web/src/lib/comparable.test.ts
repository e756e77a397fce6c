import { expect, test } from "vitest";
import { byComparability } from "./comparable";

const RUNS = [
  { id: "run_1", definitionId: "def_a" },
  { id: "run_2", definitionId: "def_b" },
  { id: "run_3", definitionId: "def_a" },
];
const idsOf = (runs: readonly { id: string }[]) => runs.map((each) => each.id);

test("runs of the chosen run's definition are apart, in their order", () => {
  const { comparable, others } = byComparability(RUNS, new Set(["run_3"]));
  expect(idsOf(comparable)).toEqual(["run_1", "run_3"]);
  expect(idsOf(others)).toEqual(["run_2"]);
});

test("without a listed choice, no run is known to be comparable", () => {
  for (const chosen of [new Set<string>(), new Set(["run_9"])])
    expect(idsOf(byComparability(RUNS, chosen).others)).toEqual(["run_1", "run_2", "run_3"]);
});
