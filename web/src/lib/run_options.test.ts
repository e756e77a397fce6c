import { expect, test } from "vitest";
import { CreateRun } from "../api/limits";
import type { Bounds } from "./forms";
import {
  countOptions,
  FIELDS,
  factorsText,
  NO_OPTIONS,
  optionsInput,
  type RunOptions,
  wrongOptions,
} from "./run_options";

const filled: RunOptions = {
  version: "3",
  seed: "42",
  priority: "HIGH",
  experiment: "exp_1",
  temperature: "0.7",
  turns: "4",
  concurrency: "20",
  judge: " sim/steady ",
  persona: "sim/bold",
  summarizer: "sim/contrarian",
  profile: "prof_1",
  evaluator: "https://grader.example.com/eval",
};

test("without options, a run has the defaults of the API", () => {
  expect(optionsInput(NO_OPTIONS)).toEqual({});
  expect(countOptions(NO_OPTIONS)).toBe(0);
});

test("every option is in the request", () => {
  expect(optionsInput(filled)).toEqual({
    definitionVersion: 3,
    sampleSeed: 42,
    priority: "HIGH",
    experimentId: "exp_1",
    config: {
      profileId: "prof_1",
      temperature: 0.7,
      maxTurns: 4,
      maxConcurrency: 20,
      judgeModel: "sim/steady",
      personaModel: "sim/bold",
      summarizerModel: "sim/contrarian",
      evaluatorUrl: "https://grader.example.com/eval",
    },
  });
  expect(countOptions(filled)).toBe(12);
});

test("a temperature and a seed may be 0", () => {
  expect(optionsInput({ ...NO_OPTIONS, temperature: "0", seed: "0" })).toEqual({
    sampleSeed: 0,
    config: { temperature: 0 },
  });
});

test.each<[Partial<RunOptions>, string]>([
  [{ version: "0" }, "version"],
  [{ seed: "-1" }, "seed"],
  [{ temperature: "2.1" }, "temperature"],
  [{ temperature: "warm" }, "temperature"],
  [{ turns: "101" }, "turns"],
  [{ concurrency: "1.5" }, "concurrency"],
])("%o is wrong", (change, name) => {
  const options = { ...filled, ...change };
  expect(wrongOptions(options)).toEqual([name]);
  expect(optionsInput(options)).toBeUndefined();
});

test("the bounds of numbers are those of the API", () => {
  for (const each of FIELDS.filter((field) => "bounds" in field)) {
    const bounds: Bounds = CreateRun[each.field];
    const wrong = (value: number) => wrongOptions({ ...NO_OPTIONS, [each.name]: String(value) });
    expect(wrong(bounds.min)).toEqual([]);
    expect(wrong(bounds.min - 1)).toEqual([each.name]);
    if (bounds.max === undefined) continue;
    expect(wrong(bounds.max)).toEqual([]);
    expect(wrong(bounds.max + 1)).toEqual([each.name]);
  }
});

test("a number of conversations is explained by its factors", () => {
  expect(factorsText(72, { targets: 3, repeats: 2 }, 648)).toBe(
    "12 of 120 conversations × 3 targets × 2 repeats",
  );
  expect(factorsText(72, { targets: 3, repeats: 2 }, 0)).toBe("12 conversations × 3 targets × 2 repeats");
  expect(factorsText(1, { targets: 1, repeats: 1 }, 0)).toBe("1 conversation × 1 target × 1 repeat");
  expect(factorsText(7, { targets: 3, repeats: 1 }, 0)).toBeNull();
});
