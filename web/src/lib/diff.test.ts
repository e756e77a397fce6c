import fc from "fast-check";
import { expect, test } from "vitest";
import { commonShare, diffLines, diffTexts, diffTokens, diffWords, type Part } from "./diff";

const before = (parts: readonly Part[]) =>
  parts.filter((each) => each.side !== "added").map((each) => each.text);
const after = (parts: readonly Part[]) =>
  parts.filter((each) => each.side !== "removed").map((each) => each.text);
const tokens = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });

/** Length of the longest common subsequence, by the table that everybody knows. */
function common(one: readonly string[], other: readonly string[]): number {
  let row = new Array<number>(other.length + 1).fill(0);
  for (const token of one) {
    const next = [0];
    other.forEach((each, index) => {
      next.push(token === each ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    });
    row = next;
  }
  return row.at(-1) ?? 0;
}

test("both texts are in the difference, and it is the shortest", () => {
  fc.assert(
    fc.property(tokens, tokens, (one, other) => {
      const parts = diffTokens(one, other);
      expect(before(parts).join("")).toBe(one.join(""));
      expect(after(parts).join("")).toBe(other.join(""));
      const kept = parts
        .filter((each) => each.side === "same")
        .reduce((sum, each) => sum + each.text.length, 0);
      expect(kept).toBe(common(one, other));
    }),
  );
});

test("any text is in its difference with any other", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      for (const diff of [diffWords, diffLines, (a: string, b: string) => diffTexts(a, b).parts]) {
        expect(before(diff(one, other)).join("")).toBe(one);
        expect(after(diff(one, other)).join("")).toBe(other);
      }
    }),
  );
});

test("only the words that differ are marked", () => {
  expect(diffWords("Be brief and kind.", "Be brief and exact.")).toEqual([
    { side: "same", text: "Be brief and " },
    { side: "removed", text: "kind" },
    { side: "added", text: "exact" },
    { side: "same", text: "." },
  ]);
});

test("texts that have nothing in common end in bounded time", () => {
  const one = Array.from({ length: 20_000 }, (_, index) => `a${index} `).join("");
  const other = Array.from({ length: 20_000 }, (_, index) => `b${index} `).join("");
  const started = performance.now();
  expect(before(diffWords(one, other)).join("")).toBe(one);
  expect(performance.now() - started).toBeLessThan(10_000);
});

test("small edits are shown by words", () => {
  const { parts, areSentences } = diffTexts("Be brief and kind. Ask once.", "Be brief and exact. Ask once.");
  expect(areSentences).toBe(false);
  expect(parts).toContainEqual({ side: "removed", text: "kind" });
});

test("where little is common, whole sentences are replaced, the old ones first", () => {
  const before = "Answer politely. Customers may return goods within 30 days. Never offer money.";
  const after =
    "Answer politely. Name the policy, then the next step that a customer can take. Do not apologize twice.";
  expect(diffTexts(before, after)).toEqual({
    areSentences: true,
    parts: [
      { side: "same", text: "Answer politely. " },
      { side: "removed", text: "Customers may return goods within 30 days. Never offer money." },
      {
        side: "added",
        text: "Name the policy, then the next step that a customer can take. Do not apologize twice.",
      },
    ],
  });
});

test("a line is a sentence too, and common lines stay between those that differ", () => {
  const { parts } = diffTexts(
    "alpha beta gamma\nRules:\nsome old words here",
    "delta epsilon\nRules:\nnew text at last",
  );
  expect(parts.map((each) => `${each.side} ${each.text}`)).toEqual([
    "removed alpha beta gamma\n",
    "added delta epsilon\n",
    "same Rules:\n",
    "removed some old words here",
    "added new text at last",
  ]);
});

test("what is added at the end of a text leaves it common, and single words that happen to be equal do not", () => {
  const share = (before: string, after: string) => commonShare(diffWords(before, after));
  expect(share("Be brief.", "Be brief. Then name the policy, and the next step.")).toBe(1);
  expect(share("the cat of Ann", "the dog and of course the bird")).toBe(0);
  expect(share("Reply in 3 days", "Reply in 5 days")).toBeGreaterThan(0.5);
  expect(share("", "new")).toBe(1);
  expect(share("a   ", "b   ")).toBe(0);
});
