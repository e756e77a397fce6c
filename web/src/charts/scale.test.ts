import fc from "fast-check";
import { expect, test } from "vitest";
import { apart, linearScale } from "./scale";

test("ticks are round and cover the values", () => {
  expect(linearScale([-0.13, 0.31], 0, 100).ticks).toEqual([-0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4]);
  expect(linearScale([3, 3], 0, 100).ticks.length).toBeGreaterThan(1);
});

test("values that hardly differ, or hardly differ from 0, have distinct ticks", () => {
  for (const values of [[-5e-324], [0], [1e-9, 1.5e-9], [1e6, 1e6 + 1e-9], [0, 5e-324]]) {
    const { ticks } = linearScale(values, 0, 100);
    expect(ticks.length).toBeGreaterThan(1);
    expect(new Set(ticks).size).toBe(ticks.length);
  }
});

test("every value lies within the pixels, in order", () => {
  const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 20 }), (values) => {
      const scale = linearScale(values, 40, 400);
      const places = values.toSorted((one, other) => one - other).map(scale.at);
      for (const place of places) {
        expect(place).toBeGreaterThan(39.9);
        expect(place).toBeLessThan(400.1);
      }
      expect(places).toEqual(places.toSorted((one, other) => one - other));
      expect(scale.ticks.length).toBeLessThan(13);
    }),
  );
});

test("texts move down until none covers another, in their order", () => {
  expect(apart([50, 10, 52, 51, 80], 14)).toEqual([50, 10, 78, 64, 92]);
  expect(apart([], 14)).toEqual([]);
});

test("texts that would lie below the bottom move up, and stay apart in their order", () => {
  expect(apart([80, 95, 96, 97, 98, 100], 14, 100)).toEqual([30, 44, 58, 72, 86, 100]);
  expect(apart([10, 90, 91], 14, 100)).toEqual([10, 86, 100]);
  const height = fc.double({ min: 0, max: 300, noNaN: true });
  fc.assert(
    fc.property(fc.array(height, { minLength: 1, maxLength: 6 }), (heights) => {
      const moved = apart(heights, 14, 300).toSorted((one, other) => one - other);
      expect(moved[0]).toBeGreaterThanOrEqual(0);
      expect(moved.at(-1)).toBeLessThanOrEqual(300);
      for (let at = 1; at < moved.length; at++)
        expect((moved[at] ?? 0) - (moved[at - 1] ?? 0)).toBeGreaterThan(13.999);
    }),
  );
});
