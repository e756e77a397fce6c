import fc from "fast-check";
import { expect, test } from "vitest";
import { findMatches, MAX_MATCHES, nextMatch, segmentsOf } from "./find";

test("words are found in every message, without regard to case", () => {
  expect(findMatches(["Refund? refund!", "none", "a REFUND"], "refund")).toEqual([
    { index: 0, start: 0 },
    { index: 0, start: 8 },
    { index: 2, start: 2 },
  ]);
  expect(findMatches(["a"], "")).toEqual([]);
  expect(findMatches(["a".repeat(2 * MAX_MATCHES)], "a")).toHaveLength(MAX_MATCHES);
});

test("the pieces of a text are the text, and those that are marked are the matches", () => {
  const texts = fc.string({
    unit: fc.constantFrom("a", "b", ".", "*", "\\", "(", "[", "|", "$", "\n", "İ", "𝒳"),
    maxLength: 20,
  });
  fc.assert(
    fc.property(texts, texts, (text, words) => {
      const segments = segmentsOf(text, words);
      expect(segments.map((each) => each.text).join("")).toBe(text);
      const marked = segments.filter((each) => each.isMatch);
      expect(marked).toHaveLength(findMatches([text], words).length);
      for (const each of marked) expect(each.text.toLowerCase()).toBe(words.toLowerCase());
    }),
  );
});

test("after the last match comes the first", () => {
  expect([nextMatch(3, 2, 1), nextMatch(3, 0, -1), nextMatch(3, -1, 1), nextMatch(0, 0, 1)]).toEqual([
    0, 2, 0, -1,
  ]);
});
