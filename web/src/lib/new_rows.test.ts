import { expect, test } from "vitest";
import { countNew } from "./new_rows";

test("rows before the one that was first are new", () => {
  expect(countNew(["d", "c", "b", "a"], "b")).toBe(2);
  expect(countNew(["b", "a"], "b")).toBe(0);
});

test("nothing is new in a list that was not shown before, or whose first row is gone", () => {
  expect(countNew(["b", "a"], null)).toBe(0);
  expect(countNew(["b", "a"], "c")).toBe(0);
});
