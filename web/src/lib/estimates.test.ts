import { expect, test } from "vitest";
import type { ColumnResults, TargetProgress } from "../api/types";

import { boundsText, columnName, decisionAxis, etaText } from "./estimates";
import { formatSeconds } from "./format";

const column = (...codes: string[]) =>
  ({ estimate: { distribution: codes.map((code) => ({ code })) } }) as unknown as ColumnResults;
const target = (changes: Partial<TargetProgress>) =>
  ({ total: 10, completed: 4, errored: 0, etaSeconds: 240, ...changes }) as TargetProgress;

test("all targets share the axis from the lowest to the highest code of any", () => {
  expect(decisionAxis([column("2", "3"), column("1", "5", "other")])).toEqual({ min: 1, max: 5 });
});

test("one code alone is in the middle of its axis", () =>
  expect(decisionAxis([column("3")])).toEqual({ min: 2, max: 4 }));

test("without decisions there is no axis", () => expect(decisionAxis([column("other")])).toBeNull());

test("errors bound the pass rate, and without errors there are no bounds", () => {
  const bounds = { errorsAsFailures: { share: 0.25 }, errorsAsPasses: { share: 0.75 } };
  const bounded = (passRateBounds: unknown) =>
    ({
      label: "Mine",
      modelId: "m",
      promptId: null,
      estimate: { passRateBounds },
    }) as unknown as ColumnResults;
  expect(boundsText(bounded(bounds))).toBe(
    "Mine: the pass rate is 25.0% if all errored conversations had failed, and 75.0% if they had passed",
  );
  expect(boundsText(bounded(null))).toBeNull();
});

test("the time left is approximate, and not given for a target that is done or waits", () => {
  expect(etaText(target({}), formatSeconds)).toBe("about 4 min left");
  expect(etaText(target({ completed: 9, errored: 1 }), formatSeconds)).toBeNull();
  expect(etaText(target({ etaSeconds: null }), formatSeconds)).toBeNull();
});

test("a column is named after its label, else its model, and its prompt", () => {
  expect(columnName({ label: null, modelId: "sim/steady", promptId: "polite" })).toBe("sim/steady, polite");
  const labelled = {
    label: null,
    modelId: "sim/steady",
    promptId: "step-by-step",
    promptLabel: "step by step",
  };
  expect(columnName(labelled)).toBe("sim/steady, step by step");
  expect(columnName({ label: "warm", modelId: "sim/steady", promptId: null })).toBe("warm");
});
