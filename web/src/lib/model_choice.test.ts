import { expect, test } from "vitest";
import { unlistedModels } from "./model_choice";

const LISTED = ["openai/gpt-5", "sim/steady"];

test.each([
  ["custom/my-model", ["custom/my-model"]],
  ["  openrouter/vendor/model:free ", ["openrouter/vendor/model:free"]],
  ["openai/gpt-5", []],
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
