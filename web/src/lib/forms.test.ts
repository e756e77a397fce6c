import { expect, test } from "vitest";
import {
  changesOf,
  headersInput,
  issuesOf,
  parseDecimal,
  parseHeaders,
  parseLines,
  parseObject,
  parseTags,
  parseWhole,
} from "./forms";

test.each([
  ["", null],
  [" 7 ", 7],
  ["0", undefined],
  ["11", undefined],
  ["1.5", undefined],
  ["1e1", undefined],
])("%j is the number %j of 1 to 10", (text, value) => {
  expect(parseWhole(text, { min: 1, max: 10 })).toBe(value);
});

test("without a greatest value, a number is as large as numbers can be", () => {
  expect(parseWhole("9007199254740991", { min: 1 })).toBe(Number.MAX_SAFE_INTEGER);
  expect(parseWhole("9007199254740992", { min: 1 })).toBeUndefined();
});

test.each([
  ["", null],
  [" .5 ", 0.5],
  ["2", 2],
  ["2.1", undefined],
  ["1e0", undefined],
])("%j is the decimal %j of 0 to 2", (text, value) => {
  expect(parseDecimal(text, { min: 0, max: 2 })).toBe(value);
});

test("only what differs is sent", () => {
  expect(changesOf({ a: 1, b: null as string | null }, { a: 1, b: "x" })).toEqual({ b: "x" });
});

test.each([
  ["", {}],
  ["X-Key: secret\n\nAccept: a: b", { "X-Key": "secret", Accept: "a: b" }],
  ["no header", undefined],
  ["X-Key:", undefined],
])("%j are the headers %j", (text, headers) => {
  expect(parseHeaders(text)).toEqual(headers);
});

test.each([
  [" ", {}],
  ['{"a": 1}', { a: 1 }],
  ["[1]", undefined],
  ["{", undefined],
])("%j is the object %j", (text, value) => {
  expect(parseObject(text)).toEqual(value);
});

test("tags are the words between commas, each once", () => {
  expect(parseTags(" a, b c ,, a,")).toEqual(["a", "b c"]);
  expect(parseTags(" ")).toEqual([]);
});

test.each([
  [{ kind: "keep" }, {}],
  [{ kind: "remove" }, { headers: null }],
  [{ kind: "replace", text: "A: 1\nB: 2" }, { headers: { A: "1", B: "2" } }],
  [{ kind: "replace", text: "no header" }, undefined],
  [{ kind: "replace", text: "" }, undefined],
] as const)("stored headers after %j are sent as %j", (change, input) => {
  expect(headersInput(change)).toEqual(input);
});

test("a field has the problems of what is inside it, and of no other field", () => {
  const issues = ["config", "config.model", "configuration"].map((field) => ({ field }));
  expect(issuesOf(issues, "config").map((each) => each.field)).toEqual(["config", "config.model"]);
});

test("lines are read without empty ones", () => {
  expect(parseLines(" a \n\n b")).toEqual(["a", "b"]);
});
