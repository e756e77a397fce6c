import { expect, test } from "vitest";
import { parseTargets, targetInputs, targetsText } from "./targets";

const unset = { label: null, model: null, connectorId: null, params: {}, maxAttempts: null };
const target = (fields: object) => ({ id: "x", callTimeoutSeconds: null, ...unset, ...fields });
const plain = [target({ model: "sim/steady" }), target({ connectorId: "con_1" })];
const tuned = [target({ model: "sim/steady", label: "cold", params: { temperature: null } })];

test("targets without anything of their own are names between commas", () => {
  expect(targetsText(plain)).toEqual({ text: "sim/steady, connector/con_1", isJson: false });
});

test.each([
  ["plain", plain],
  ["tuned", tuned],
])("%s targets survive being edited", (_, targets) => {
  const { text, isJson } = targetsText(targets);
  expect(parseTargets(text, isJson)).toEqual(targetInputs(targets));
});

test("a parameter that removes a default stays", () => {
  expect(targetInputs(tuned)).toEqual([
    { model: "sim/steady", label: "cold", params: { temperature: null } },
  ]);
});

test.each([
  [" , ", false],
  ["[]", true],
  ["{}", true],
  ["[", true],
])("%j names no target", (text, isJson) => expect(parseTargets(text, isJson)).toBeUndefined());
