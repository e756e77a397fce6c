import { expect, test } from "vitest";
import { changeText, leftOutText } from "./usage_ratios";

const ratio = { scenarios: 8, ratio: 1.2, interval95: [1.1, 1.3], adjustedP: 0.0031 };

test("a change is shown with its interval and p, as far as they are known", () => {
  expect(changeText(ratio, 8)).toBe("+20.0% (+10.0% to +30.0%), adjusted p 0.003");
  expect(changeText({ ...ratio, interval95: null }, 8)).toBe("+20.0%, adjusted p 0.003");
  expect(changeText({ ...ratio, interval95: null, adjustedP: null }, 8)).toBe("+20.0%");
  expect(changeText({ ...ratio, ratio: null }, 8)).toBe("–");
});

test("a number of scenarios that differs is shown", () => {
  expect(changeText({ ...ratio, scenarios: 5 }, 8)).toBe(
    "+20.0% (+10.0% to +30.0%), adjusted p 0.003, n = 5",
  );
});

test("scenarios without a ratio say why", () => {
  expect(leftOutText({ unknown: 2, free: 1 })).toBe("2 unknown, 1 with a conversation that cost nothing");
  expect(leftOutText({})).toBe("");
});
