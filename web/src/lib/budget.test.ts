import fc from "fast-check";
import { expect, test } from "vitest";
import { budgetShares, needsConfirmation, parseBudget, refusalReason } from "./budget";

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
  const estimate = { confirmableUsd: 2 };
  expect(needsConfirmation(1.99, estimate)).toBe(true);
  expect(needsConfirmation(2, estimate)).toBe(false);
  expect(needsConfirmation(null, estimate)).toBe(false);
  expect(needsConfirmation(1, undefined)).toBe(false);
});

test("the reason of a refusal is a sentence without the remedy", () => {
  const detail =
    "the run is expected to cost $2; repeat the request with confirmedUsd of at least 2 to start it";
  expect(refusalReason(detail)).toBe("The run is expected to cost $2.");
  expect(refusalReason("another reason")).toBe("Another reason.");
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
