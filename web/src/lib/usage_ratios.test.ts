import { expect, test } from "vitest";
import { changeText, formatChange, formatChanges, leftOutText } from "./usage_ratios";

test("a ratio is shown as a change with its sign", () => {
  expect(formatChange(1.2)).toBe("+20.0%");
  expect(formatChange(0.5)).toBe("−50.0%");
  expect(formatChange(1)).toBe("0.0%");
  expect(formatChange(null)).toBe("–");
  expect(formatChanges([0.9, 1.1])).toBe("−10.0% to +10.0%");
  expect(formatChanges(null)).toBe("–");
});

test("a change without a test has no interval", () => {
  expect(changeText(1.2, [1.1, 1.3], 0.0031)).toBe("+20.0% (+10.0% to +30.0%), adjusted p 0.003");
  expect(changeText(1.2, null, 0.5)).toBe("+20.0%, adjusted p 0.500");
  expect(changeText(1.2, null, null)).toBe("+20.0%");
  expect(changeText(null, null, null)).toBe("–");
});

test("scenarios without a ratio say why", () => {
  expect(leftOutText({ unknown: 2, free: 1 })).toBe("2 unknown, 1 free of charge on a side");
  expect(leftOutText({})).toBe("");
});
