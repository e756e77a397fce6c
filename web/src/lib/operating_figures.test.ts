import { expect, test } from "vitest";
import { formatOperating, formatOperatingDifference } from "./operating_figures";

test("a difference has its sign and the unit of its figure", () => {
  expect(formatOperatingDifference("costUsd", 0.0004)).toBe("+$0.0004");
  expect(formatOperatingDifference("costUsd", -1.5)).toBe("−$1.50");
  expect(formatOperatingDifference("tokens", -1_234)).toBe("−1,234");
  expect(formatOperatingDifference("medianDurationMs", 1_500)).toBe("+1.5 s");
  expect(formatOperatingDifference("errorRate", -0.125)).toBe("−12.5 pp");
  expect(formatOperating("errorRate", 0.125)).toBe("12.5%");
});

test("a difference that is shown as 0 has no sign, and an unknown one is not 0", () => {
  expect(formatOperatingDifference("tokens", 0.2)).toBe("0");
  expect(formatOperatingDifference("errorRate", -0.0001)).toBe("0.0 pp");
  expect(formatOperatingDifference("costUsd", 0)).toBe("$0");
  expect(formatOperatingDifference("costUsd", null)).toBe("–");
  expect(formatOperating("p95DurationMs", null)).toBe("–");
});
