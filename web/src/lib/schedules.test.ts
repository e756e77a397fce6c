import { expect, test } from "vitest";
import type { Schemas } from "../api/types";

import { changedStart } from "./schedules";

const config = { temperature: 0.5, params: { temperature: 0.5 }, maxTurns: 2, judgeModel: null };
const shared = {
  name: null,
  tags: ["x"],
  metadata: {},
  priority: "HIGH",
  experimentId: null,
  allowUnpriced: false,
};
const target = {
  id: "sim/steady",
  label: null,
  model: "sim/steady",
  connectorId: null,
  params: {},
  maxAttempts: null,
  callTimeoutSeconds: null,
};
const run = {
  ...shared,
  definitionId: "def_1",
  definitionVersion: 3,
  models: ["sim/steady"],
  targets: [target],
  samplePercentage: 50,
  sampleSeed: 7,
  repeats: 2,
  maxBudgetUsd: 1,
  confirmedUsd: null,
  report: true,
  config,
};
const schedule = { run, evalRun: null } as unknown as Schemas["Schedule"];

test("what a form does not show stays as it is", () => {
  const { models: _, ...kept } = run;
  expect(changedStart(schedule, { sourceId: "def_1", repeats: 5, maxBudgetUsd: null })).toEqual({
    run: {
      ...kept,
      targets: [{ model: "sim/steady" }],
      repeats: 5,
      maxBudgetUsd: null,
      config: { params: { temperature: 0.5 }, maxTurns: 2, judgeModel: null },
    },
  });
});

test("another profile replaces the version too, and none removes both", () => {
  const pinned = {
    ...schedule,
    run: { ...run, config: { ...config, profileId: "prof_1", profileVersion: 3 } },
  };
  const configOf = (profileId?: string | null) =>
    changedStart(pinned as unknown as Schemas["Schedule"], {
      sourceId: "def_1",
      repeats: 1,
      maxBudgetUsd: null,
      profileId,
    }).run?.config;
  expect(configOf()).toMatchObject({ profileId: "prof_1", profileVersion: 3 });
  expect(configOf("prof_2")).toMatchObject({ profileId: "prof_2", profileVersion: null });
  expect(configOf(null)).toMatchObject({ profileId: null, profileVersion: null });
});

test("the version of another definition is its latest", () => {
  const changed = changedStart(schedule, { sourceId: "def_2", repeats: 2, maxBudgetUsd: 1 });
  expect(changed.run?.definitionVersion).toBeNull();
});

test("an eval run keeps its options", () => {
  const evalRun = { ...shared, evalId: "evl_1", repeats: 1, maxBudgetUsd: null, confirmedUsd: null, config };
  const stored = { run: null, evalRun } as unknown as Schemas["Schedule"];
  const changed = changedStart(stored, { sourceId: "evl_2", repeats: 3, maxBudgetUsd: 2 });
  expect(changed.evalRun).toMatchObject({
    evalId: "evl_2",
    repeats: 3,
    maxBudgetUsd: 2,
    tags: ["x"],
    priority: "HIGH",
  });
  expect(changed.run).toBeUndefined();
});
