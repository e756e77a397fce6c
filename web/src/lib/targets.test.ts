import { expect, test } from "vitest";
import { areTargets, haveFields, parseTargets, targetInputs, targetsText } from "./targets";

const unset = { label: null, model: null, connectorId: null, params: {}, maxAttempts: null };
const target = (fields: object) => ({ id: "x", callTimeoutSeconds: null, ...unset, ...fields });
const plain = [target({ model: "sim/steady" }), target({ connectorId: "con_1" })];
const tuned = [target({ model: "sim/steady", label: "cold", params: { temperature: null } })];

test("targets without anything of their own are names between commas", () => {
  expect(targetsText(plain)).toBe("sim/steady, connector/con_1");
  expect(parseTargets(targetsText(plain))).toEqual(targetInputs(plain));
});

test("targets with anything of their own have fields", () => {
  expect([plain, tuned].map(haveFields)).toEqual([false, true]);
});

test("a parameter that removes a default stays", () => {
  expect(targetInputs(tuned)).toEqual([
    { model: "sim/steady", label: "cold", params: { temperature: null } },
  ]);
});

test("a text without a name names no target", () => {
  expect(parseTargets(" , ")).toBeUndefined();
});

test.each([
  [[], false],
  [[{}], true],
  ["x", false],
  [undefined, false],
])("%j: are targets? %s", (value, are) => expect(areTargets(value)).toBe(are));
