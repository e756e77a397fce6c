import fc from "fast-check";
import { expect, test } from "vitest";
import type { ScenarioChange } from "../api/types";

import { countFlips, pairedPoints } from "./paired";

function changed(baseline: number, comparison: number): ScenarioChange {
  const difference = comparison - baseline;
  const change = difference > 0 ? "increased" : difference < 0 ? "decreased" : "unchanged";
  const unknown = { row: 0, shrunkenDifference: null, standardError: null, p: null, q: null };
  return { scenarioId: "scn_1", scenarioName: "one", baseline, comparison, difference, change, ...unknown };
}

const share = fc.constantFrom(0, 0.25, 0.5, 0.75, 1);
const scenarios = fc.array(fc.tuple(share, share).map(([one, other]) => changed(one, other)));

test("every scenario is in the one point of its values", () => {
  fc.assert(
    fc.property(scenarios, (all) => {
      const points = pairedPoints(all);
      expect(points.flatMap((each) => each.scenarios).length).toBe(all.length);
      expect(new Set(points.map((each) => `${each.x} ${each.y}`)).size).toBe(points.length);
      for (const point of points)
        for (const each of point.scenarios)
          expect([each.baseline, each.comparison, each.change]).toEqual([point.x, point.y, point.change]);
    }),
  );
});

test("a flip crosses half of the repeats", () => {
  const all = [changed(0, 1), changed(0.25, 0.5), changed(0.5, 0.25), changed(0.5, 1), changed(0, 0.25)];
  expect(countFlips(all)).toEqual({ toPassed: 2, toFailed: 1 });
});
