import { expect, test } from "vitest";
import { csvText } from "./csv";

test("cells with separators are quoted, and nothing is a formula", () => {
  expect(
    csvText([
      ["a", 'say "b", c', null],
      ["=1+1", -2, "two\nlines"],
    ]),
  ).toBe('a,"say ""b"", c",\r\n\'=1+1,-2,"two\nlines"\r\n');
  expect(csvText([])).toBe("");
});
