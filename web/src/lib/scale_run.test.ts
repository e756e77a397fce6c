import { expect, test } from "vitest";
import { ALL_EVALUATORS, ANY_FORMAT, evaluatorsInput, formatInput } from "./scale_run";

test("nothing is sent of the default evaluators", () => {
  expect(evaluatorsInput(ALL_EVALUATORS)).toEqual({});
});

test("evaluators are switched off, and judged with their own judge and threshold", () => {
  const judged = { isOn: true, judge: " sim/steady ", threshold: "0.8" };
  expect(
    evaluatorsInput({
      goal: judged,
      toxicity: { ...judged, isOn: false, threshold: "wrong" },
      refusal: false,
      format: false,
      external: "none",
      url: "",
    }),
  ).toEqual({
    goal: { judgeModel: "sim/steady", threshold: 0.8 },
    toxicity: false,
    refusal: false,
    format: false,
    external: null,
  });
});

test("an external evaluator of its own needs an address", () => {
  expect(evaluatorsInput({ ...ALL_EVALUATORS, external: "own" })).toBeUndefined();
  expect(evaluatorsInput({ ...ALL_EVALUATORS, external: "own", url: "https://x.example/eval" })).toEqual({
    external: { url: "https://x.example/eval" },
  });
});

test.each(["1.1", "-1", "a", "."])("%j is no threshold", (threshold) => {
  expect(evaluatorsInput({ ...ALL_EVALUATORS, goal: { isOn: true, judge: "", threshold } })).toBeUndefined();
});

test.each([
  [{}, null],
  [{ kind: "json" }, { jsonSchema: {} }],
  [
    { kind: "json", schema: '{"type": "object"}', minWords: "1" },
    { jsonSchema: { type: "object" }, minWords: 1 },
  ],
  [{ kind: "json", schema: "[]" }, undefined],
  [{ kind: "json", schema: "{" }, undefined],
  [{ kind: "xml", elements: "order.item, order" }, { xmlElements: ["order.item", "order"] }],
  [{ kind: "xml" }, { xmlElements: [] }],
  [
    { pattern: "^ok$", maxWords: "3" },
    { pattern: "^ok$", maxWords: 3 },
  ],
  [{ schema: "{" }, null],
  [{ minWords: "4", maxWords: "3" }, undefined],
  [{ minWords: "x" }, undefined],
] as const)("the fields %j are the format %j", (fields, format) => {
  expect(formatInput({ ...ANY_FORMAT, ...fields })).toEqual(format);
});
