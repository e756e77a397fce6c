import { expect, test } from "vitest";
import { Pace } from "./pace";

test("each begins a second after the one before, in the order of asking", () => {
  let now = 0;
  const pace = new Pace(1_000, () => now);
  expect([pace.take(), pace.take(), pace.take()]).toEqual([0, 1_000, 2_000]);
  now = 2_500;
  expect(pace.take()).toBe(500);
  now = 60_000;
  expect([pace.take(), pace.take()]).toEqual([0, 1_000]);
});
