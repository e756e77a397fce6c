import { expect, test } from "vitest";
import { scenarioChanges, scenarioDraft, scenarioFields } from "./scenario_fields";

const STORED = {
  id: "def_1-0",
  definitionId: "def_1",
  definitionVersion: 3,
  name: "late refund",
  messages: [{ role: "user", content: "I want my money back." }],
  dimensions: { delay: 5 },
  metadata: {},
  instructions: null,
  followUps: [],
  separateTurns: false,
  maxMessages: null,
  successCriteria: "explains the limit",
  failureCriteria: null,
  failureCriteriaMode: "on_max_messages",
  assertions: [],
  personaIds: [],
  messagesByPrompt: {},
  toolResults: [],
};

test("the draft of a scenario has what is set, and one text of the user as its first message", () => {
  expect(scenarioDraft(STORED)).toEqual({
    name: "late refund",
    prompt: "I want my money back.",
    dimensions: { delay: 5 },
    successCriteria: "explains the limit",
  });
});

test("other messages stay as they are", () => {
  const image = { type: "image", fileId: "file_1", mediaType: "image/png" };
  for (const messages of [
    [{ role: "user", content: [image] }],
    [{ role: "system", content: "Be brief." }],
    [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
    ],
  ]) {
    const { prompt, messages: kept } = scenarioDraft({ ...STORED, messages });
    expect([prompt, kept]).toEqual([undefined, messages]);
  }
  expect(scenarioDraft({ ...STORED, messages: [] })).not.toHaveProperty("messages");
});

test("a scripted result of null stays one, and an absent one is none", () => {
  const toolResults = [
    { name: "a", arguments: null, result: null, error: null, times: null },
    { name: "b", arguments: null, result: null, error: "down", times: 1 },
  ];
  expect(scenarioDraft({ ...STORED, toolResults })["toolResults"]).toEqual([
    { name: "a", result: null },
    { name: "b", error: "down", times: 1 },
  ]);
});

test("nothing is sent of what was not changed", () => {
  const draft = scenarioDraft(STORED);
  expect(scenarioChanges(draft, { ...draft })).toEqual({});
  expect(scenarioChanges(draft, { ...draft, prompt: "other" })).toEqual({ prompt: "other" });
});

test("what is removed has its empty value", () => {
  const before = {
    prompt: "a",
    followUps: ["b"],
    separateTurns: true,
    dimensions: { delay: 5 },
    metadata: { a: 1 },
    maxMessages: 4,
    messages: [{ role: "user", content: "a" }],
  };
  expect(scenarioChanges(before, { messages: [] })).toEqual({
    prompt: null,
    followUps: [],
    separateTurns: false,
    dimensions: {},
    metadata: {},
    maxMessages: null,
    messages: null,
  });
});

test("messages are edited in the place of the first message where there are several", () => {
  const names = (hasMessages: boolean) =>
    scenarioFields(hasMessages).map((fields) => fields.map((each) => each.name));
  const [first = [], further = []] = names(true);
  expect(first).toContain("messages");
  expect(first).not.toContain("prompt");
  expect(further).not.toContain("messages");
  expect(names(false)[0]).toContain("prompt");
  expect(names(false)[1]).toContain("messages");
});
