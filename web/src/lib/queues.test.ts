import { expect, test } from "vitest";
import { isIdle, type QueueView, queueStates } from "./queues";

const IDLE: QueueView = {
  pending: 0,
  granted: 0,
  deadLetters: 0,
  workers: 0,
  paused: false,
  throttledUntil: null,
  limit: null,
  learnedLimit: null,
  suspendedModels: [],
};
const noon = () => "12:00";

test("a queue without work is idle, unless something needs attention", () => {
  expect(isIdle(IDLE)).toBe(true);
  expect(isIdle({ ...IDLE, deadLetters: 1 })).toBe(false);
  expect(isIdle({ ...IDLE, paused: true })).toBe(false);
});

test("every reason that holds work up is said", () => {
  const held = {
    ...IDLE,
    paused: true,
    throttledUntil: "x",
    learnedLimit: 3,
    suspendedModels: [{ model: "a/b", until: "x", reason: "it keeps failing" }],
  };
  expect(queueStates(held, noon)).toEqual([
    "paused by this workspace",
    "refuses calls until 12:00",
    "sustains 3 parallel requests",
    "a/b is not called until 12:00: it keeps failing",
  ]);
  expect(queueStates(IDLE, noon)).toEqual(["normal"]);
});
