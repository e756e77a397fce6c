import { expect, test } from "vitest";
import { leftOutText } from "./left_out_checks";

const column = (completed: number, partlyChecked = 0, leftOutChecks: Record<string, number> = {}) => ({
  estimate: { completed },
  partlyChecked,
  leftOutChecks,
});

test("nothing is said if nothing was left out", () => {
  expect(leftOutText([column(9), column(3)])).toBeNull();
});

test("the checks of all targets are added, the most frequent first", () => {
  const columns = [column(5, 2, { "is-sql": 1, javascript: 2 }), column(4, 1, { javascript: 1 })];
  expect(leftOutText(columns)).toBe(
    "3 of 9 conversations lack checks that their author wrote (javascript 3, is-sql 1)",
  );
});

test("a single conversation and further types are counted", () => {
  const checks = { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 2 };
  expect(leftOutText([column(1, 1, checks)])).toBe(
    "1 of 1 conversation lacks checks that its author wrote (g 2, a 1, b 1, c 1, d 1 and 2 others)",
  );
});
