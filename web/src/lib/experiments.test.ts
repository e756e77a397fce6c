import { expect, test } from "vitest";
import { differenceAxis, mayChange } from "./experiments";

test("the axis has 0 in its middle and every interval on it", () => {
  const rows = [
    { difference: 0.2, interval: [-0.1, 0.5] },
    { difference: null, interval: null },
  ];
  expect(differenceAxis(rows)).toEqual({ min: -0.5, max: 0.5 });
  expect(differenceAxis([])).toEqual({ min: -1, max: 1 });
});

const [ENDED, GOING] = [{ status: "COMPLETED" }, { status: "PAUSED" }];
const [NEVER, AWAITED] = [{ isInProgress: false }, { isInProgress: true }];

test.each([
  ["is not read yet", undefined, false],
  ["has no runs", { runs: [], reasons: [] }, false],
  ["has runs that cannot be compared", { runs: [ENDED, ENDED], reasons: [NEVER] }, false],
  ["awaits a comparison", { runs: [ENDED, ENDED], reasons: [NEVER, AWAITED] }, true],
  ["has a run that goes on", { runs: [ENDED, GOING], reasons: [] }, true],
])("a summary that %s is read again: %j → %j", (_, summary, isAgain) => {
  expect(mayChange(summary)).toBe(isAgain);
});
