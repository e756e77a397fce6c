import fc from "fast-check";
import { expect, test } from "vitest";
import { budgetShares, needsConfirmation, parseBudget } from "./budget";

test.each([
  ["", null],
  [" 5 ", 5],
  ["$0.25", 0.25],
  [".5", 0.5],
  ["0", undefined],
  ["1e3", undefined],
  ["1,5", undefined],
  ["-1", undefined],
  ["1000001", undefined],
])("%j is the budget %j", (text, amount) => {
  expect(parseBudget(text)).toBe(amount);
});

test("only the expected cost must be confirmed", () => {
  const cost = { low: 1, expected: 2, high: 9 };
  expect(needsConfirmation(1.99, cost)).toBe(true);
  expect(needsConfirmation(2, cost)).toBe(false);
  expect(needsConfirmation(null, cost)).toBe(false);
  expect(needsConfirmation(1, undefined)).toBe(false);
});

test("what is used is never longer than the budget", () => {
  const usd = fc.double({ min: 0, max: 100, noNaN: true });
  fc.assert(
    fc.property(usd, usd, usd, (spentUsd, uncertainUsd, reservedUsd) => {
      const shares = budgetShares({ maxBudgetUsd: 10, spentUsd, uncertainUsd, reservedUsd });
      expect(shares.spent + shares.uncertain + shares.reserved).toBeLessThanOrEqual(1.0000001);
      expect(Math.min(shares.spent, shares.uncertain, shares.reserved)).toBeGreaterThanOrEqual(0);
    }),
  );
});
