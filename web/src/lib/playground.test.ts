import { expect, test } from "vitest";
import {
  type Column,
  firstPlayground,
  MAX_COLUMNS,
  missingChoice,
  promptsWith,
  runTargets,
  scenarioOf,
  settingsOf,
  withColumn,
  withSharing,
} from "./playground";

const CHAT = { id: "chat_1", branchId: "br_1", settings: "{}" };
const FIRST = firstPlayground("sim/steady");
const [COLUMN] = FIRST.columns as [Column];

test("a further column has the settings of the last one and no conversation", () => {
  const last = { ...COLUMN, id: 7, model: "sim/bold", params: { temperature: 1 }, chat: CHAT };
  const columns = withColumn([COLUMN, last]);
  expect(columns[2]).toEqual({ ...last, id: 8, chat: null });
  const full = withColumn(withColumn(columns));
  expect(full).toHaveLength(MAX_COLUMNS);
});

test("a shared system prompt becomes that of each column, and that of the first is shared", () => {
  const apart = withSharing({ ...FIRST, sharedSystem: "Be brief." }, false);
  expect(apart.columns.map((each) => each.system)).toEqual(["Be brief.", "Be brief."]);
  expect(apart.sharedSystem).toBeNull();
  const columns = [{ ...COLUMN, system: "Be kind." }, COLUMN];
  expect(withSharing({ columns, sharedSystem: null }, true).sharedSystem).toBe("Be kind.");
});

test("the settings of a chat have its model or agent, and the prompt that holds for its column", () => {
  const column = { ...COLUMN, model: " sim/bold ", params: { seed: 3 }, system: "Be kind." };
  const target = { model: "sim/bold", params: { seed: 3 } };
  expect(settingsOf(FIRST, column)).toEqual({ target, system: null });
  expect(settingsOf({ ...FIRST, sharedSystem: null }, column)).toEqual({ target, system: "Be kind." });
  const agent = { ...COLUMN, connectorId: "conn_1" };
  expect(settingsOf(FIRST, agent).target).toEqual({ connectorId: "conn_1", params: {} });
});

test("the first column without a model is named", () => {
  expect(missingChoice(FIRST.columns)).toBeNull();
  expect(missingChoice([COLUMN, { ...COLUMN, model: "steady" }])).toBe("Choose a model in column 2.");
  expect(missingChoice([{ ...COLUMN, model: "", connectorId: "conn_1" }])).toBeNull();
});

test("a run has each model and agent once", () => {
  const agent = { ...COLUMN, connectorId: "conn_1" };
  expect(runTargets([COLUMN, COLUMN, agent])).toEqual({ models: ["sim/steady"], agents: ["conn_1"] });
});

test("a scenario has only what was written", () => {
  expect(scenarioOf("hello", " ", "")).toEqual({ prompt: "hello" });
  expect(scenarioOf("hello", "A greeting.", "Hi")).toEqual({
    prompt: "hello",
    successCriteria: "A greeting.",
    assertions: [{ type: "icontains", value: "Hi" }],
  });
});

test("a further prompt stands beside what a definition without prompts asked before", () => {
  const first = promptsWith({ system: "Be kind.", prompts: null }, "Very brief!", "Be brief.", { seed: 3 });
  expect(first).toEqual([
    { id: "original", label: "Original" },
    { id: "very-brief", label: "Very brief!", system: "Be brief.", params: { seed: 3 } },
  ]);
  const second = promptsWith({ prompts: first }, "very brief", "Be briefer.", {});
  expect(second.slice(0, 2)).toEqual(first);
  expect(second[2]).toEqual({ id: "very-brief-2", label: "very brief", system: "Be briefer." });
  expect(promptsWith({ prompts: first }, "短い", "Be brief.", {})[2]?.["id"]).toBe("prompt");
});
