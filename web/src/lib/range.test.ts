import { expect, test } from "vitest";
import { rangeError, withEnd } from "./range";

test("a range has both ends or none", () => {
  expect(withEnd([null, null], 0, 1)).toEqual([1, null]);
  expect(withEnd([1, null], 1, 5)).toEqual([1, 5]);
  expect(withEnd([1, 5], 0, "x")).toEqual(["x", 5]);
  expect(withEnd([1, null], 0, undefined)).toBeUndefined();
});

test("what is wrong is said at the end that is to be corrected", () => {
  expect(rangeError([null, null])).toBeUndefined();
  expect(rangeError([1, 5])).toBeUndefined();
  expect(rangeError([1, null])?.end).toBe(1);
  expect(rangeError([null, 5])?.end).toBe(0);
  expect(rangeError([5, 5])).toEqual({ end: 1, message: "Greater than the lowest" });
});
