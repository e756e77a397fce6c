import { expect, test } from "vitest";
import {
  dimensionsOf,
  placeholderNames,
  renderTemplate,
  splitAnswers,
  templateProblems,
  withDimension,
  withPlaceholder,
} from "./preview";
import cases from "./template_cases.json";

/** `tests/unit/domain/text/test_page_templates.py` compares them with what runs find. */
test.each(cases)("$template has its placeholders, each once", ({ template, names }) => {
  expect(placeholderNames(template)).toEqual(names);
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
