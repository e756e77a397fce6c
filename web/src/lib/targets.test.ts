import { expect, test } from "vitest";
import {
  areTargets,
  haveFields,
  namedTarget,
  parseTargets,
  targetInputs,
  targetNames,
  targetsText,
} from "./targets";

const unset = { label: null, model: null, connectorId: null, agentName: null, params: {}, maxAttempts: null };
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

const agents = new Map([["con_1", "Bank"]]);

test.each([
  [{ label: "cold", model: "sim/steady" }, "cold"],
  [{ model: "sim/steady" }, "sim/steady"],
  [{ connectorId: "con_1" }, "Bank"],
  [{ connectorId: "con_1", agentName: "Bank of May" }, "Bank of May"],
  [{ connectorId: "con_2" }, "con_2"],
])("%j is called %s", (fields, name) => expect(targetNames([target(fields)], agents)).toBe(name));

test("a target of which only the id is known is called by its agent or its model", () => {
  expect(targetNames(["connector/con_1", "sim/steady"].map(namedTarget), agents)).toBe("Bank, sim/steady");
});
