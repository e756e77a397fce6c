import fc from "fast-check";
import { expect, test } from "vitest";
import { markAfter } from "./marks";

/** A cross with something far to the right. */
const CROSS = [
  { x: 50, y: 50 },
  { x: 20, y: 55 },
  { x: 80, y: 40 },
  { x: 50, y: 10 },
  { x: 45, y: 90 },
  { x: 200, y: 50 },
];

test("an arrow leads to the nearest mark in its direction", () => {
  const after = (key: string) => markAfter(CROSS, 0, key);
  expect(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].map(after)).toEqual([1, 2, 3, 4]);
  expect(markAfter(CROSS, 2, "ArrowRight")).toBe(5);
});

test("where nothing lies that way, the focus stays", () => {
  expect(markAfter(CROSS, 5, "ArrowRight")).toBe(5);
  expect(markAfter([{ x: 1, y: 1 }], 0, "ArrowUp")).toBe(0);
});

test("what lies aside is gone to only if nothing lies within 45 degrees", () => {
  const places = [
    { x: 0, y: 0 },
    { x: 10, y: 30 },
    { x: 60, y: 0 },
  ];
  expect(markAfter(places, 0, "ArrowRight")).toBe(2);
  expect(markAfter(places.slice(0, 2), 0, "ArrowRight")).toBe(1);
});

test("other keys lead nowhere", () => {
  expect(["a", "Enter", "Tab", "toString"].map((key) => markAfter(CROSS, 0, key))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

const places = fc.array(fc.record({ x: fc.integer({ min: 0, max: 9 }), y: fc.integer({ min: 0, max: 9 }) }), {
  minLength: 1,
  maxLength: 30,
});

test("Page Down reaches every mark once, and Page Up leads back", () => {
  fc.assert(
    fc.property(places, (given) => {
      let at = markAfter(given, 0, "Home") ?? -1;
      const seen = [at];
      for (
        let next = markAfter(given, at, "PageDown");
        next !== at;
        next = markAfter(given, at, "PageDown")
      ) {
        expect(markAfter(given, next ?? -1, "PageUp")).toBe(at);
        at = next ?? -1;
        seen.push(at);
      }
      expect(at).toBe(markAfter(given, 0, "End"));
      expect(seen.toSorted((one, other) => one - other)).toEqual(given.map((_, index) => index));
    }),
  );
});

test("an arrow never leads the other way", () => {
  fc.assert(
    fc.property(places, fc.nat(), (given, start) => {
      const from = start % given.length;
      const to = markAfter(given, from, "ArrowUp") ?? -1;
      expect(to === from || (given[to]?.y ?? 0) < (given[from]?.y ?? 0)).toBe(true);
    }),
  );
});
