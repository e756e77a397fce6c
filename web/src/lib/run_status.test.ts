import { expect, test } from "vitest";
import { callsInFlightNote } from "./run_status";

test("a stopped run names the calls that are still in flight", () => {
  expect(callsInFlightNote({ status: "PAUSED", callsInFlight: 1 })).toMatch(/^1 call in flight/);
  expect(callsInFlightNote({ status: "CANCELLED", callsInFlight: 20 })).toMatch(/^20 calls in flight/);
});

test.each([{ callsInFlight: 0 }, { status: "RUNNING" }, undefined])("%j says nothing", (changed) =>
  expect(callsInFlightNote(changed)).toBeNull(),
);
