import { expect, test } from "vitest";
import type { Run } from "../api/types";
import { carriedSettings, chosenTargets, formOf } from "./run_again";
import { canChangeAndRepeat } from "./run_status";

const PLAIN = {
  label: null,
  connectorId: null,
  agentName: null,
  params: {},
  maxAttempts: null,
  callTimeoutSeconds: null,
};
const STEADY = { ...PLAIN, id: "sim/steady", model: "sim/steady" };
const SOBER = { ...PLAIN, id: "sober", label: "sober", model: "sim/bold", params: { temperature: 0 } };
const AGENT = { ...PLAIN, id: "connector/con_1", model: null, connectorId: "con_1" };

function run(config: object = {}, fields: object = {}): Run {
  const whole = {
    targets: [STEADY],
    params: {},
    samplePercentage: 100,
    sampleSeed: 17,
    repeats: 3,
    temperature: null,
    maxTurns: null,
    maxConcurrency: null,
    judgeModel: null,
    personaModel: null,
    evaluatorUrl: null,
    ...config,
  };
  return {
    name: null,
    definitionVersion: 2,
    priority: "NORMAL",
    experimentId: null,
    report: false,
    scale: false,
    playground: false,
    evalId: null,
    config: whole,
    ...fields,
  } as unknown as Run;
}

test("the form has the settings of the run", () => {
  const form = formOf(
    run(
      { targets: [STEADY, SOBER, AGENT], samplePercentage: 20, temperature: 0.5, judgeModel: "sim/judge" },
      { name: "Monday", priority: "HIGH", experimentId: "exp_1", report: true },
    ),
  );
  expect(form).toMatchObject({
    selected: ["sim/steady", "sim/bold"],
    agents: ["con_1"],
    name: "Monday",
    sample: 20,
    repeats: "3",
    withReport: true,
  });
  expect(form.options).toMatchObject({
    version: "2",
    seed: "17",
    temperature: "0.5",
    turns: "",
    judge: "sim/judge",
    priority: "HIGH",
    experiment: "exp_1",
  });
});

test("the seed matters for a sample alone", () => expect(formOf(run()).options.seed).toBe(""));

test("settings that the form does not show are taken over and named", () => {
  const { config, names } = carriedSettings(
    run({ params: { temperature: 1, topP: 0.5 }, profileId: "prf_1", profileVersion: 3, targets: [SOBER] }),
  );
  expect(config).toEqual({ params: { topP: 0.5 }, profileId: "prf_1", profileVersion: 3 });
  expect(names).toEqual(["parameters of the models", "operation profile", "labels and settings of targets"]);
  expect(carriedSettings(run({ params: { temperature: 1 } }))).toEqual({ config: {}, names: [] });
});

test("targets without settings of their own are named only", () => {
  expect(chosenTargets(run(), ["sim/bold"], ["con_1"])).toEqual({ models: ["sim/bold", "connector/con_1"] });
  expect(chosenTargets(undefined, ["sim/bold"], [])).toEqual({ models: ["sim/bold"] });
});

test("a target of the run that is still chosen has its settings, and a new one has none", () => {
  const old = run({ targets: [STEADY, SOBER, AGENT] });
  expect(chosenTargets(old, ["sim/bold", "sim/new"], ["con_1", "con_2"])).toEqual({
    targets: [
      { model: "sim/bold", label: "sober", params: { temperature: 0 } },
      { connectorId: "con_1" },
      { model: "sim/new" },
      { connectorId: "con_2" },
    ],
  });
});

test("runs of other forms are repeated without changes", () => {
  expect(canChangeAndRepeat(run())).toBe(true);
  for (const kind of [{ scale: true }, { playground: true }, { evalId: "evl_1" }])
    expect(canChangeAndRepeat(run({}, kind))).toBe(false);
});
