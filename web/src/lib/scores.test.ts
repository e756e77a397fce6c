import { expect, test } from "vitest";
import { parseScore } from "./scores";

test("a score is a number from 0 to 1", () => {
  expect(["0", "1", " 0.8 ", ".5", "1."].map(parseScore)).toEqual([0, 1, 0.8, 0.5, 1]);
  expect(["", "  "].map(parseScore)).toEqual([null, null]);
  for (const each of ["1.01", "-0.1", "0,8", "1e-1", "half", "80%"]) expect(parseScore(each)).toBeUndefined();
});
