import fc from "fast-check";
import { expect, test } from "vitest";
import { parseRange, rangeText, rangeWords } from "./ranges";

const bound = fc.double({ min: 0, max: 1e12, noNaN: true }).map((value) => value + 0);

test("every range survives the address", () => {
  fc.assert(
    fc.property(bound, bound, fc.constantFrom("both", "from", "below"), (one, other, sides) => {
      fc.pre(one !== other);
      const [from, below] = [Math.min(one, other), Math.max(one, other)];
      const range = { both: { from, below }, from: { from }, below: { below } }[sides];
      expect(parseRange(rangeText(range))).toEqual(range);
    }),
  );
});

test.each(["", "~", "1", "1~1", "2~1", "a~2", "1~2~3", " ~1", "-1~2", "1~Infinity", "0x1~3", 5, null])(
  "%j is no range",
  (text) => expect(parseRange(text)).toBeUndefined(),
);

test("a range is said in words", () => {
  const seconds = (value: number) => `${value} s`;
  expect(rangeWords({ from: 1, below: 2 }, seconds)).toBe("from 1 s to below 2 s");
  expect(rangeWords({ below: 2 }, seconds)).toBe("below 2 s");
  expect(rangeWords({ from: 1 }, seconds)).toBe("from 1 s");
});
