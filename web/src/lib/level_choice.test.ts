import { expect, test } from "vitest";
import { levelChoices, scoredDimensions, withLevel } from "./level_choice";

const CONTENT = {
  dimensions: [
    {
      name: "delay",
      levels: [
        { score: 1, label: "short" },
        { score: 5, label: "long" },
        { score: 5, label: "again" },
      ],
    },
    {
      name: "The mood",
      levels: [
        { score: 2, label: "calm" },
        { score: "x", label: "typed" },
      ],
    },
    { name: " ", levels: [] },
    null,
  ],
};
const DIMENSIONS = scoredDimensions(CONTENT);

test("levels have a score, each once, and dimensions a name", () => {
  expect(DIMENSIONS).toEqual([
    {
      name: "delay",
      levels: [
        { score: 1, label: "short" },
        { score: 5, label: "long" },
      ],
    },
    { name: "The mood", levels: [{ score: 2, label: "calm" }] },
  ]);
  expect(scoredDimensions({ dimensions: {} })).toEqual([]);
});

test("a rule names dimensions as placeholders do, and keeps how it writes them", () => {
  const [delay, mood] = levelChoices({ "the-MOOD": [2] }, DIMENSIONS);
  expect(delay?.levels.map((each) => each.isChosen)).toEqual([false, false]);
  expect([mood?.name, mood?.levels[0]?.isChosen]).toEqual(["the-MOOD", true]);
});

test("what the definition has no longer stays, and can be taken out", () => {
  const choices = levelChoices({ delay: [1, 9], gone: 3 }, DIMENSIONS);
  expect(choices[0]?.levels.at(-1)).toEqual({ score: 9, label: null, isChosen: true });
  expect(choices.at(-1)).toEqual({
    name: "gone",
    isKnown: false,
    levels: [{ score: 3, label: null, isChosen: true }],
  });
  expect(withLevel({ delay: [1, 9], gone: 3 }, "gone", 3, false)).toEqual({ delay: [1, 9] });
});

test("one score is a number, several are a list in order", () => {
  expect(withLevel(undefined, "delay", 5, true)).toEqual({ delay: 5 });
  expect(withLevel({ delay: 5 }, "delay", 1, true)).toEqual({ delay: [1, 5] });
  expect(withLevel({ delay: [1, 5], mood: 2 }, "delay", 5, false)).toEqual({ delay: 1, mood: 2 });
  expect(withLevel({ delay: 1 }, "delay", 1, false)).toEqual({});
});
