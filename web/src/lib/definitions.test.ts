import fc from "fast-check";
import { expect, test } from "vitest";
import { asText, changedFields, combinations, contentChanges, pieces } from "./definitions";

test("only the fields that differ are changes, the prompts first", () => {
  const before = { decision: { pattern: "a" }, system: "Be brief.", maxTurns: 2, assertions: [] };
  const after = { system: "Be exact.", decision: { pattern: "b" }, maxTurns: 2 };
  expect(changedFields(before, after).map((each) => each.field)).toEqual(["system", "decision"]);
});

test("the order of keys is no change", () => {
  expect(changedFields({ params: { a: 1, b: 2 } }, { params: { b: 2, a: 1 } })).toEqual([]);
});

test("null is a change where it is a value", () => {
  expect(changedFields({ params: { seed: null } }, { params: {} })).toEqual([
    { field: "params", before: '{\n  "seed": null\n}', after: "" },
  ]);
});

test("a content has no changes to itself", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (content) => {
      expect(changedFields(content, structuredClone(content))).toEqual([]);
    }),
  );
});

test.each([
  [undefined, ""],
  [null, ""],
  [[], ""],
  [{}, ""],
  ["text", "text"],
  [0, "0"],
])("%j is the text %j", (value, text) => {
  expect(asText(value)).toBe(text);
});

test("only the placeholders of dimensions are marked", () => {
  expect(pieces("Help [who] with [what].", ["who"])).toEqual([
    { text: "Help ", isPlaceholder: false },
    { text: "[who]", isPlaceholder: true },
    { text: " with ", isPlaceholder: false },
    { text: "[what]", isPlaceholder: false },
    { text: ".", isPlaceholder: false },
  ]);
});

test("any template is the sum of its pieces", () => {
  fc.assert(
    fc.property(fc.string(), (template) => {
      expect(
        pieces(template, [])
          .map((each) => each.text)
          .join(""),
      ).toBe(template);
    }),
  );
});

test("combinations are the product of the levels", () => {
  expect(combinations([{ levels: [1, 2] }, { levels: [1, 2, 3] }])).toBe(6);
});

test("a change of the content has what differs, and null for what was removed", () => {
  const before = { system: "a", maxTurns: 3, dimensions: [{ name: "risk" }] };
  expect(contentChanges(before, { system: "b", dimensions: [{ name: "risk" }], template: "t" })).toEqual({
    system: "b",
    maxTurns: null,
    template: "t",
  });
  expect(contentChanges(before, { ...before })).toEqual({});
});
