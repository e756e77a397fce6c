import { expect, test } from "vitest";
import { eventDetails } from "./event_details";

test("states are words", () => {
  expect(eventDetails({ from: "RUNNING", to: "SUMMARIZING" })).toBe("from running to summarizing");
  expect(eventDetails({ from: "PAUSED", to: "PAUSED", pauseReason: "budget" })).toBe(
    "still paused, pause reason: budget",
  );
});

test("amounts and shares have their units", () => {
  expect(eventDetails({ usedPercent: 80, maxBudgetUsd: 2, uncertainUsd: null })).toBe(
    "used: 80%, max budget: $2.00",
  );
});

test("a failure says where and why, and changed fields are named", () => {
  expect(eventDetails({ failure: { where: "plan", why: "no scenario" } })).toBe("failure: plan, no scenario");
  expect(eventDetails({ changed: ["name", "tags"] })).toBe("changed: name and tags");
});

test("fields of a later release are shown as they are, with invisible characters as codes", () => {
  expect(eventDetails({ other: { a: 1 }, note: "a\u202eb", to: "RUNNING" })).toBe(
    'other: {"a":1}, note: a[U+202E]b, to: running',
  );
  expect(eventDetails({})).toBe("");
});
