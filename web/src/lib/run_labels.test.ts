import { expect, test } from "vitest";
import { labelChanges, labelsOf, noteOf } from "./run_labels";

const RUN = { name: "Monday", tags: ["b", "a"], metadata: { commit: "6f1b2c9", note: "Before the fix" } };

test("a run is shown as it is typed", () => {
  expect(labelsOf(RUN)).toEqual({ name: "Monday", tags: "b, a", note: "Before the fix" });
  expect(labelsOf({ name: null, tags: [], metadata: {} })).toEqual({ name: "", tags: "", note: "" });
});

test("only what was typed anew is changed, and tags have no order", () => {
  expect(labelChanges(RUN, { ...labelsOf(RUN), tags: "a,b, a" })).toEqual({});
  expect(labelChanges(RUN, { ...labelsOf(RUN), name: " Tuesday " })).toEqual({ name: "Tuesday" });
  expect(labelChanges(RUN, { ...labelsOf(RUN), name: " ", tags: "" })).toEqual({ name: null, tags: [] });
});

test("other entries of the metadata stay", () => {
  expect(labelChanges(RUN, { ...labelsOf(RUN), note: "After it" })).toEqual({
    metadata: { commit: "6f1b2c9", note: "After it" },
  });
  expect(labelChanges(RUN, { ...labelsOf(RUN), note: "" })).toEqual({ metadata: { commit: "6f1b2c9" } });
});

test("a note of a script may be a number", () => {
  expect(noteOf({ metadata: { note: 812 } })).toBe("812");
  expect(noteOf({ metadata: { note: "" } })).toBeNull();
});
