import { expect, test } from "vitest";
import type { CaseName, CaseText } from "../api/types";
import { matchingCases, valueNames } from "./cases";

const names: CaseName[] = ["Late refund", "Broken kettle"].map((scenarioName, index) => ({
  index,
  scenarioName,
  scenarioId: `scn_${index}`,
  personaId: null,
  personaName: index === 0 ? "Ada" : null,
  dimensions: {},
}));
const texts: CaseText[] = [
  { index: 0, input: "Where is my money?", expected: null, values: { tone: "short", tier: "gold" } },
  { index: 1, input: "It leaks.", expected: "A new kettle", values: { tone: "kind" } },
];
const found = (q?: string, where?: string) => [...(matchingCases(names, texts, { q, where }) ?? [])];

test("words are found in names, inputs, expectations and variables", () => {
  expect([found("MONEY refund"), found("new kettle"), found("gold"), found("ada"), found("x")]).toEqual([
    [0],
    [1],
    [0],
    [0],
    [],
  ]);
});

test("a case has the value of a variable, or not", () => {
  expect([found(undefined, "tone=short"), found("kettle", "tone=short")]).toEqual([[0], []]);
  expect([found(undefined, "toString=x"), found(undefined, "tier=")]).toEqual([[], []]);
});

test("without a filter nothing is chosen, and before the texts are loaded nothing matches", () => {
  expect(matchingCases(names, texts, { q: undefined, where: undefined })).toBeNull();
  expect(matchingCases(undefined, undefined, { q: "x", where: undefined })?.size).toBe(0);
});

test("variables are named in the order of their first use", () => {
  expect(valueNames(texts)).toEqual(["tone", "tier"]);
});
