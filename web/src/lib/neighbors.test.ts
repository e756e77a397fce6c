import fc from "fast-check";
import { expect, test } from "vitest";
import { neighbor, sibling } from "./neighbors";

const item = (probeIndex: number, success: boolean | null) => ({
  probeIndex,
  result: success === null ? null : { success },
});
const items = [item(40, true), item(7, false), item(9, null), item(3, false)];

test("n starts at the first failure and stops after the last", () => {
  expect(neighbor(items, undefined, 1, true)).toBe(7);
  expect(neighbor(items, 7, 1, true)).toBe(3);
  expect(neighbor(items, 3, 1, true)).toBeUndefined();
});

test("p goes back, and starts at the last failure", () => {
  expect(neighbor(items, undefined, -1, true)).toBe(3);
  expect(neighbor(items, 3, -1, true)).toBe(7);
});

test("a conversation without a result is no failure", () =>
  expect(neighbor([item(1, null)], undefined, 1, true)).toBeUndefined());

test("walking with n visits every failure once, in the order of the list", () => {
  const lists = fc.uniqueArray(
    fc.record({ index: fc.nat(999), success: fc.constantFrom(true, false, null) }),
    {
      selector: (each) => each.index,
    },
  );
  fc.assert(
    fc.property(lists, (drawn) => {
      const conversations = drawn.map((each) => item(each.index, each.success));
      const visited: number[] = [];
      for (let at = neighbor(conversations, undefined, 1, true); at !== undefined; ) {
        visited.push(at);
        at = neighbor(conversations, at, 1, true);
      }
      expect(visited).toEqual(drawn.filter((each) => each.success === false).map((each) => each.index));
    }),
  );
});

test("brackets go through the targets of one scenario, persona and repeat, in the order of the run", () => {
  const asked = (probeIndex: number, scenarioId: string, repeat = 0, personaId: string | null = null) => ({
    probeIndex,
    scenarioId,
    personaId,
    repeat,
  });
  const list = [
    asked(8, "a"),
    asked(1, "b"),
    asked(4, "a"),
    asked(5, "a", 1),
    asked(0, "a"),
    asked(2, "a", 0, "p"),
  ];
  expect(sibling(list, 0, 1)).toBe(4);
  expect(sibling(list, 4, 1)).toBe(8);
  expect(sibling(list, 8, 1)).toBeUndefined();
  expect(sibling(list, 4, -1)).toBe(0);
  expect(sibling(list, 1, 1)).toBeUndefined();
  expect(sibling(list, undefined, 1)).toBeUndefined();
});
