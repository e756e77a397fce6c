import fc from "fast-check";
import { expect, test } from "vitest";
import cases from "./decision_cases.json";
import { patternError, readDecisions } from "./decision_pattern";
import { lastMatch, parsePattern, UnknownPattern } from "./python_pattern";

interface Case {
  readonly pattern: string;
  readonly answer: string;
  readonly code: string | null;
  readonly error?: string;
}

/** `tests/unit/scoring/test_page_decisions.py` compares them with what runs read. */
const CASES: readonly Case[] = cases;
const VALID = CASES.filter((each) => each.error === undefined);

const kindOf = ({ pattern, answer }: Case) => {
  const [decision] = readDecisions(pattern, [answer]);
  return decision?.kind === "code" ? decision.code : decision?.kind;
};

test.each(VALID)("$pattern reads what runs read, or nothing is claimed", (each) => {
  expect([each.code ?? "none", "unknown"]).toContain(kindOf(each));
  expect(patternError(each.pattern)).toBeNull();
});

test("few valid expressions are unknown", () => {
  const unknown = VALID.filter((each) => kindOf(each) === "unknown");
  expect(unknown.length / VALID.length).toBeLessThan(0.1);
});

test.each(CASES.filter((each) => each.error !== undefined))("$pattern is refused, or unknown", (each) => {
  const error = patternError(each.pattern);
  if (error === null) expect(kindOf(each)).toBe("unknown");
  else expect(error).toBe(each.error);
});

test("what was found is shown with its code", () => {
  expect(readDecisions("Rating: (\\d)", ["Rating: 2 … Rating: 4", "x", "Rating: 9"])).toEqual([
    { kind: "code", code: "4", found: "Rating: 4" },
    { kind: "none" },
    { kind: "code", code: "other", found: "Rating: 9" },
  ]);
});

test("only the end of an answer is searched", () => {
  const [decision] = readDecisions("^(\\d)", [`1${"x".repeat(10)}2${"😀".repeat(19_999)}`]);
  expect(decision).toEqual({ kind: "code", code: "2", found: "2" });
});

test.each([
  ["(a|a)*b", "a".repeat(60)],
  ["(?:a?){30}a{30}(x)", "a".repeat(30)],
  ["(.*.*.*.*)=", "a".repeat(20_000)],
  ["((?:ab|a)+)c", "ab".repeat(10_000)],
  ["(\\w*\\w*\\w*)!", "a".repeat(5_000)],
])("%s is given up after a bounded number of steps", (pattern, answer) => {
  const kinds = readDecisions(pattern, [answer, answer]).map((each) => each.kind);
  expect(["slow", "unknown"]).toContain(kinds[0]);
  expect(kinds[1]).toBe(kinds[0]);
});

test("an ordinary pattern reads long answers", () => {
  const answer = `${"The answer weighs what is known. ".repeat(600)}\nRating: 4`;
  const kinds = readDecisions(
    "(?im)^rating:\\s*([1-5])",
    Array.from({ length: 50 }, () => answer),
  );
  expect(kinds.every((each) => each.kind === "code" && each.code === "4")).toBe(true);
});

test("any text is a pattern that is read, refused or unknown", () => {
  const piece = fc.constantFrom(
    ..."()[]{}?*+|\\^$.-<>=!:PimsxdwbA1,a😀\n".split(""),
    "(?P<",
    "(?<=",
    "\\u{",
    "{1,",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.string(), (pieces, answer) => {
      const pattern = pieces.join("");
      expect(["code", "none", "slow", "unknown"]).toContain(readDecisions(pattern, [answer])[0]?.kind);
      patternError(pattern);
    }),
  );
});

test("any text that is escaped is found where it is", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), (text, before) => {
      const escaped = text.replaceAll(/[^A-Za-z0-9]/gu, (each) => `\\${each}`);
      const match = lastMatch(parsePattern(`(${escaped})`), before + text, { left: 1_000_000 });
      expect(match?.group).toBe(text);
    }),
  );
});

test("an expression that Python does not have is unknown", () => {
  for (const pattern of [
    "(?(1)a)",
    "\\p{L}",
    "a**",
    "(?<n>a)",
    "[[a]",
    "[b-a]",
    "\\8",
    "(?P=n)",
    "x{2}{3}",
  ]) {
    expect(() => parsePattern(pattern), pattern).toThrow(UnknownPattern);
  }
});
