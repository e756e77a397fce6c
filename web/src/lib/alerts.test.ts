import { expect, test } from "vitest";
import { alertsOf } from "./alerts";

const event = (seq: number | null, type: string, data = {}) => ({ seq, type, ts: `at ${seq}`, data });

test("the latest alerts are in words, the newest first", () => {
  const events = [
    event(1, "run.created"),
    event(2, "run.started", { from: "PENDING", to: "RUNNING" }),
    event(3, "run.budget", { percent: 80 }),
    event(4, "run.budget", { percent: 100, scope: "day" }),
    event(5, "run.paused", { pauseReason: "budget" }),
    event(6, "run.resumed"),
    event(null, "run.progress"),
  ];
  expect(alertsOf(events, 3)).toEqual([
    { seq: 6, ts: "at 6", text: "resumed" },
    { seq: 5, ts: "at 5", text: "paused: a budget is used up" },
    { seq: 4, ts: "at 4", text: "100% of the workspace's budget of the day is used up" },
  ]);
  expect(alertsOf(events, 9).at(-1)?.text).toBe("80% of the budget is used");
});

test("what has no words is no alert", () => {
  expect(alertsOf([event(1, "toString"), event(2, "run.budget"), event(3, "run.finished")], 9)).toEqual([]);
  expect(alertsOf([event(1, "run.paused", { pauseReason: "toString" })], 9)[0]?.text).toBe(
    "paused by request",
  );
});
