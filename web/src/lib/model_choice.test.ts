import { expect, test } from "vitest";
import { firstChoice, inOrder, unlistedModels, withServed } from "./model_choice";

const LISTED = ["openai/gpt-6.1-sol", "sim/steady"];

test.each([
  ["custom/my-model", ["custom/my-model"]],
  ["  openrouter/vendor/model:free ", ["openrouter/vendor/model:free"]],
  ["openai/gpt-6.1-sol", []],
  ["gpt", []],
  ["/model", []],
  ["provider/", []],
  ["a b/c", []],
])("%j is offered as a model if it could be one that is not listed", (sought, offered) => {
  expect(unlistedModels(LISTED, ["sim/steady"], sought)).toEqual(offered);
});

test("chosen models stay whatever is sought, once", () => {
  expect(unlistedModels(LISTED, ["custom/a", "sim/steady"], "gpt")).toEqual(["custom/a"]);
  expect(unlistedModels(LISTED, ["custom/a"], "custom/a")).toEqual(["custom/a"]);
});

const [KEYED, KEYLESS, SIMULATED] = [
  { id: "openai/gpt-6.1-sol", simulated: false, hasKey: true },
  { id: "bedrock/nova", simulated: false, hasKey: false },
  { id: "sim/steady", simulated: true, hasKey: false },
];

test.each([
  ["without any key", [KEYLESS, SIMULATED], ["sim/steady", "bedrock/nova"], ["sim/steady"]],
  ["with a key", [KEYLESS, KEYED, SIMULATED], ["bedrock/nova", "openai/gpt-6.1-sol", "sim/steady"], []],
  ["without simulated models", [KEYLESS], ["bedrock/nova"], []],
])("%s, simulated models are first and chosen as they should be", (_, models, listed, chosen) => {
  expect(inOrder(models).map((each) => each.id)).toEqual(listed);
  expect(firstChoice(models)).toEqual(chosen);
});

test("models of own servers are offered once, with unknown prices", () => {
  const listed = withServed([], [{ provider: "custom", models: ["custom/a"], problem: null }]);
  const all = withServed(listed, [
    { provider: "custom", models: ["custom/a", "custom/org/b"], problem: null },
    { provider: "custom-down", models: [], problem: "no connection" },
  ]);
  expect(all.map(({ id, name, provider }) => [id, name, provider])).toEqual([
    ["custom/a", "a", "custom"],
    ["custom/org/b", "org/b", "custom"],
  ]);
  expect(all[0]?.inputUsdPerMillion).toBeNull();
});
