import fc from "fast-check";
import { expect, test } from "vitest";
import type { CaseText } from "../api/types";
import { addBlock, emptyTable, type ProbeColumns } from "./probe_table";
import {
  compareTexts,
  groupAt,
  groupRows,
  linesOf,
  nextOrder,
  orderedRows,
  parseCaseOrder,
} from "./row_groups";

const VALUES = [{ tier: "10" }, { tier: "9" }, {}, { tier: "low" }, { tier: "9" }];
const INPUTS = ["pear", "Apple", null, "apple 10", "apple 9"];

const texts = new Map(
  VALUES.map((values, index) => [
    index,
    { index, input: INPUTS[index] ?? null, expected: null, values } as unknown as CaseText,
  ]),
);
const rows = [0, 1, 2, 3, 4];

/** Each case has one probe for each of two targets; the first target passes in all, the second in none. */
function table() {
  const count = rows.length * 2;
  const unknown = Array.from({ length: count }, () => null);
  const made = emptyTable({ total: count, columns: 2, repeats: 1 });
  const success = unknown.map((_, index) => (index === 9 ? null : index < rows.length));
  addBlock(made, {
    runId: "run_1",
    firstIndex: 0,
    isFinal: true,
    column: unknown.map((_, index) => Math.floor(index / rows.length)),
    case: unknown.map((_, index) => index % rows.length),
    repeat: unknown.map(() => 0),
    completed: unknown.map(() => true),
    success,
    decision: unknown,
    score: unknown,
    tags: unknown.map(() => []),
    failedChecks: unknown.map(() => []),
    passedChecks: unknown.map(() => []),
    turns: unknown,
    inputTokens: unknown,
    outputTokens: unknown,
    durationMs: unknown,
    costUsd: unknown,
    errorCode: unknown,
    tagNames: [],
    checkNames: [],
  } as unknown as ProbeColumns);
  return made;
}

const all = Int32Array.from({ length: 10 }, (_, index) => index);

test("rows are ordered by a variable, numbers by their value, and those without it last", () => {
  expect(orderedRows(rows, texts, "var.tier")).toEqual([1, 4, 0, 3, 2]);
  expect(orderedRows(rows, texts, "-var.tier")).toEqual([3, 0, 1, 4, 2]);
});

test("rows are ordered by the input", () => {
  expect(orderedRows(rows, texts, "input")).toEqual([1, 4, 3, 0, 2]);
  expect(orderedRows(rows, texts, "-input")).toEqual([0, 3, 4, 1, 2]);
});

test("the order of texts is total", () => {
  const text = fc.oneof(
    fc.constant(null),
    fc.string(),
    fc.double().map(String),
    fc.constantFrom("1", "1.0", " "),
  );
  fc.assert(
    fc.property(text, text, text, (one, two, three) => {
      expect(Math.sign(compareTexts(one, two))).toBe(-Math.sign(compareTexts(two, one)) + 0);
      if (compareTexts(one, two) <= 0 && compareTexts(two, three) <= 0)
        expect(compareTexts(one, three)).toBeLessThanOrEqual(0);
    }),
  );
});

test("the head of a column sorts up, then down, then as the run", () => {
  expect(nextOrder(undefined, "input")).toBe("input");
  expect(nextOrder("input", "input")).toBe("-input");
  expect(nextOrder("-input", "input")).toBe(undefined);
  expect(nextOrder("-input", "var.tone")).toBe("var.tone");
});

test.each(["input", "-input", "var.a", "-var.a.b"])("%s is an order by cases", (order) => {
  expect(parseCaseOrder(order)).toBe(order);
});

test.each([undefined, "", "inputs", "var.", "cost", "--input"])("%s is no order by cases", (order) => {
  expect(parseCaseOrder(order)).toBe(undefined);
});

test("groups have their rows in order, and count the listed conversations of each target", () => {
  const groups = groupRows(rows, texts, "tier", table(), all);
  expect(groups.map(({ value, rows: own }) => [value, own])).toEqual([
    ["9", [1, 4]],
    ["10", [0]],
    ["low", [3]],
    [null, [2]],
  ]);
  expect(groups[0]?.counts).toEqual([
    { conversations: 2, judged: 2, passed: 2 },
    { conversations: 2, judged: 1, passed: 0 },
  ]);
  const [first] = groupRows(rows, texts, "tier", table(), all.slice(0, 2));
  expect(first?.counts[1]).toEqual({ conversations: 0, judged: 0, passed: 0 });
});

test("the rows of a folded group are left out, and its heading stays", () => {
  const groups = groupRows(rows, texts, "tier", table(), all);
  expect(linesOf(groups, new Set())).toEqual([-1, 1, 4, -2, 0, -3, 3, -4, 2]);
  expect(linesOf(groups, new Set(["9", null]))).toEqual([-1, -2, 0, -3, 3, -4]);
  expect(groupAt(groups, -2)?.value).toBe("10");
  expect(groupAt(groups, 0)).toBe(undefined);
});
