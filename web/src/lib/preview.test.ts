import { expect, test } from "vitest";
import {
  dimensionsOf,
  placeholderNames,
  renderTemplate,
  splitAnswers,
  templateProblems,
  tryPattern,
  withDimension,
  withPlaceholder,
} from "./preview";

test("placeholders are names in brackets, each once, and not ranges, lists or escaped ones", () => {
  expect(placeholderNames("[Risk level] [1-5] [a, b] \\[name] [risk_level] [über]")).toEqual([
    "Risk level",
    "über",
  ]);
});

test("a template is rendered with values in any spelling, and without those that are missing", () => {
  const values = new Map([["risk level", "high"]]);
  expect(renderTemplate("[Risk_Level] risk, [other], \\[Risk level]", values)).toBe(
    "high risk, [other], [Risk level]",
  );
});

test("a level stands for its options, or for its label", () => {
  const levels = [
    { score: 1, label: "low" },
    { score: 5, label: "high", options: ["very high", "extreme"] },
    null,
  ];
  expect(dimensionsOf({ dimensions: [{ name: "risk", levels }, { levels }, "x"] })).toEqual([
    {
      name: "risk",
      levels: [
        { label: "low", phrases: ["low"] },
        { label: "high", phrases: ["very high", "extreme"] },
      ],
    },
  ]);
});

test("placeholders without a dimension and dimensions without a placeholder are named", () => {
  const dimensions = [
    { name: "risk level", levels: [] },
    { name: "age", levels: [] },
  ];
  expect(templateProblems({ template: "[Risk-Level] of [harm]", dimensions })).toEqual({
    unknown: ["harm"],
    unused: ["age"],
  });
  expect(templateProblems({ dimensions })).toEqual({ unknown: [], unused: [] });
});

test("what is offered corrects each problem", () => {
  const content = { template: "[harm]", dimensions: [{ name: "age", levels: [] }] };
  const corrected = withPlaceholder(withDimension(content, "harm"), "age");
  expect(corrected["template"]).toBe("[harm] [age]");
  expect(templateProblems(corrected)).toEqual({ unknown: [], unused: [] });
});

test("answers are separated by lines of dashes", () => {
  expect(splitAnswers("Rating: 1\n---\n\n----\nRating -- 2\nend\n")).toEqual([
    "Rating: 1",
    "Rating -- 2\nend",
  ]);
  expect(splitAnswers(" \n---")).toEqual([]);
});

test.each([
  ["Rating: (\\d)", "Rating: 2 … Rating: 4", { kind: "code", code: "4", found: "Rating: 4" }],
  ["(?i)rating: (\\d+)", "RATING: 12", { kind: "code", code: "other", found: "RATING: 12" }],
  ["(?P<n>[1-5])", "n 3", { kind: "code", code: "3", found: "3" }],
  ["Rating: (\\d)", "none", { kind: "none" }],
  ["(?<=a|bc)(\\d", "1", { kind: "untried" }],
])("%s reads the decision of %s", (pattern, answer, expected) => {
  expect(tryPattern(pattern, answer)).toEqual(expected);
});
