import fc from "fast-check";
import { expect, test } from "vitest";
import { type Live, type LiveEvent, received, retryWaitMs, SILENT } from "./live";

const event = (seq: number | null, type = "run.started", data = {}): LiveEvent => ({
  seq,
  type,
  ts: "",
  data,
});
const progress = (completed: number) => event(null, "run.progress", { total: 9, completed, failed: 1 });

test("however often and in whatever parts events come, each is there once and in order", () => {
  const parts = fc.array(fc.tuple(fc.nat(12), fc.nat(12)), { maxLength: 12 });
  fc.assert(
    fc.property(parts, (answers) => {
      const all = Array.from({ length: 12 }, (_, index) => event(index + 1));
      let live: Live<LiveEvent> = SILENT;
      for (const [repeated, length] of answers) {
        const first = Math.max(0, live.lastSeq - repeated);
        live = received(live, all.slice(first, first + length));
      }
      expect(live.events).toEqual(all.slice(0, live.lastSeq));
    }),
  );
});

test("progress is the latest, and the same object while it has not changed", () => {
  const once = received<LiveEvent>(SILENT, [progress(3)]);
  expect(once.progress).toEqual({ total: 9, completed: 3, failed: 1 });
  expect(received(once, [progress(3)]).progress).toBe(once.progress);
  expect(received(once, [progress(4)]).progress?.completed).toBe(4);
  expect(received(once, [event(null, "run.progress", { total: "9" })]).progress).toBe(once.progress);
});

test("waits grow from one second to half a minute", () => {
  expect([1, 2, 3, 9].map((each) => retryWaitMs(each, 1))).toEqual([2_000, 4_000, 8_000, 30_000]);
  expect([1, 9, 100].map((each) => retryWaitMs(each, 0))).toEqual([1_000, 1_000, 1_000]);
});
