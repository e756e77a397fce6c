import { expect, test } from "vitest";
import { dimensionsOf, levelsOf } from "./cases";

const names: { index: number; dimensions: Record<string, number> }[] = [
  { index: 0, dimensions: { harm: 3, age: 1 } },
  { index: 1, dimensions: {} },
  { index: 2, dimensions: { harm: 1 } },
];

test("cases have the dimensions that any of them has", () => {
  expect(dimensionsOf(names)).toEqual(["age", "harm"]);
  expect(dimensionsOf([])).toEqual([]);
});

test("a case has a level only in its dimensions", () => {
  expect([...(levelsOf(names, "harm") ?? [])]).toEqual([
    [0, 3],
    [2, 1],
  ]);
  expect(levelsOf(names, "toString")?.size).toBe(0);
  expect(levelsOf(names, undefined)).toBeNull();
  expect(levelsOf(undefined, "harm")).toBeNull();
});
