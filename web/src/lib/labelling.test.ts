import { expect, test } from "vitest";
import type { Label, LabelSet, LabelSetItem } from "../api/types";
import {
  choicesOf,
  currentItem,
  EMPTY_QUEUE,
  labelled,
  progressText,
  type Queue,
  undone,
  unlabelledCount,
  withEarlier,
  withPending,
} from "./labelling";

const item = (probeId: string, label: Label | null = null) => ({ probeId, label }) as LabelSetItem;
const label = (value: Label["value"]) => ({ value }) as Label;
const queue = withPending(
  EMPTY_QUEUE,
  ["a", "b", "c"].map((id) => item(id)),
);
const shown = (each: Queue) => currentItem(each)?.probeId;

test("a label leads to the next transcript without one", () => {
  const next = labelled(queue, "a", label("pass"));
  expect([shown(next), unlabelledCount(next)]).toEqual(["b", 2]);
  expect(shown(labelled({ ...next, at: 2 }, "c", label("fail")))).toBe("b");
});

test("the last label stays where it is", () => {
  const all = ["a", "b", "c"].reduce((each, id) => labelled(each, id, label("pass")), queue);
  expect([shown(all), unlabelledCount(all)]).toEqual(["c", 0]);
  expect(shown(withPending(all, [item("a"), item("d")]))).toBe("d");
});

test("undoing goes back label by label, and restores what was said before", () => {
  const twice = labelled(labelled(queue, "a", label("pass")), "b", label("fail"));
  const once = undone(twice, null);
  expect([shown(once), once.items[1]?.label, once.given.length]).toEqual(["b", null, 1]);
  const changed = labelled({ ...once, at: 0 }, "a", label("fail"));
  expect(changed.given.at(-1)?.before?.value).toBe("pass");
  expect(shown(undone(queue, null))).toBe("a");
});

test("transcripts are added once, earlier ones before the others", () => {
  expect(withPending(queue, [item("b")])).toBe(queue);
  const earlier = withEarlier(queue, [item("x", label("pass")), item("y", label("skip")), item("a")]);
  expect(earlier.items.map((each) => each.probeId)).toEqual(["x", "y", "a", "b", "c"]);
  expect(shown(earlier)).toBe("y");
});

test("progress counts skips as labelled and says what needs a second person", () => {
  const set = { count: 60, toLabelTwice: 12, progress: { labelled: 10, skipped: 2, doubled: 9 } } as LabelSet;
  expect(progressText(set)).toBe("12 of 60 labelled (2 skipped), 3 to label twice");
  const done = { ...set, progress: { ...set.progress, skipped: 0, doubled: 14 } };
  expect(progressText(done)).toBe("10 of 60 labelled");
});

test("codes have a key each", () => {
  expect(choicesOf("decision").map((each) => each.key)).toEqual(["1", "2", "3", "4", "5", "s"]);
  expect(choicesOf("llm-rubric").map((each) => each.value)).toEqual(["pass", "fail", "skip"]);
});
