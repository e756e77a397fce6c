import { expect, test } from "vitest";
import { nextPlace } from "./menu";

const LABELS = ["Name and tags…", "Run again…", "Export…", "Delete…"];

test("arrows go on at the other end", () => {
  expect(nextPlace("ArrowDown", 3, LABELS)).toBe(0);
  expect(nextPlace("ArrowUp", 0, LABELS)).toBe(3);
  expect(nextPlace("ArrowDown", -1, LABELS)).toBe(0);
  expect(nextPlace("ArrowUp", -1, LABELS)).toBe(3);
});

test("Home and End go to the ends", () => {
  expect(nextPlace("Home", 2, LABELS)).toBe(0);
  expect(nextPlace("End", 1, LABELS)).toBe(3);
});

test("a letter goes to the next item that begins with it, and stays where none does", () => {
  expect(nextPlace("d", 0, LABELS)).toBe(3);
  expect(nextPlace("E", 2, LABELS)).toBe(2);
  expect(nextPlace("x", 1, LABELS)).toBe(1);
});

test("other keys are those of the browser", () => {
  for (const key of ["Enter", " ", "Tab", "F5"]) expect(nextPlace(key, 0, LABELS)).toBeNull();
});
