import { expect, test } from "vitest";
import { areSameTags, ownTags, tagsToStore } from "./definition_tags";

const INTERNAL = "sha:f022e7de105f@1";

test("tags of the command are not shown, and those of people are", () => {
  expect(ownTags(["shop", INTERNAL, "sha:me", "sha:f022e7de105f"])).toEqual([
    "shop",
    "sha:me",
    "sha:f022e7de105f",
  ]);
});

test("tags of the command stay when others are typed anew", () => {
  expect(tagsToStore("one, two, one", ["shop", INTERNAL])).toEqual(["one", "two", INTERNAL]);
  expect(tagsToStore("", [INTERNAL])).toEqual([INTERNAL]);
});

test("tags have no order", () => {
  expect(areSameTags(["a", "b"], ["b", "a"])).toBe(true);
  expect(areSameTags(["a"], ["a", "b"])).toBe(false);
});
