import { expect, test } from "vitest";
import { causeOf, helpOfUnscored } from "./unscored";

test("a cause has its model and the error of its call", () => {
  expect(causeOf({ code: "judge_failed", model: "custom/sphinx", providerCode: "auth" })).toBe(
    "judge_failed (auth) of custom/sphinx",
  );
  expect(causeOf({ code: "input", model: null, providerCode: null })).toBe("input");
});

test("what helps is said of every code", () => {
  expect(helpOfUnscored("judge_reply")).toContain("another judge");
});
