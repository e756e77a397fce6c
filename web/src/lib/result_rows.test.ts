import fc from "fast-check";
import { expect, test } from "vitest";
import { addBlock, emptyTable, Outcome, type ProbeColumns, readCell } from "./probe_table";
import { chooseProbes } from "./probes";
import {
  checkRows,
  MODES,
  type Mode,
  neighborOf,
  probeOfCell,
  type RowOrder,
  rowsOf,
  sideBySide,
  tagCounts,
} from "./result_rows";

interface Probe {
  completed: boolean | null;
  success: boolean | null;
  decision: string | null;
}

const CASES = 4;
const COLUMNS = 3;
const REPEATS = 2;

/** As the API orders them: by column, then case, then repeat. */
function block(probes: readonly Probe[]): ProbeColumns {
  const places = probes.map((_, index) => ({
    column: Math.floor(index / (CASES * REPEATS)),
    case: Math.floor(index / REPEATS) % CASES,
    repeat: index % REPEATS,
  }));
  const unknown = probes.map(() => null);
  return {
    runId: "run_1",
    firstIndex: 0,
    isFinal: true,
    column: places.map((each) => each.column),
    case: places.map((each) => each.case),
    repeat: places.map((each) => each.repeat),
    completed: probes.map((each) => each.completed),
    success: probes.map((each) => each.success),
    decision: probes.map((each) => each.decision),
    score: unknown,
    tags: probes.map(() => []),
    failedChecks: probes.map((each) => (each.success === false ? [0] : [])),
    passedChecks: probes.map((each) => (each.success === true ? [0, 1] : each.success === false ? [1] : [])),
    turns: unknown,
    inputTokens: probes.map(() => 3),
    outputTokens: probes.map((_, index) => index),
    durationMs: unknown,
    costUsd: unknown,
    errorCode: unknown,
    tagNames: [],
    checkNames: ["policy", "length"],
  };
}

const judged = (success: boolean): Probe => ({ completed: true, success, decision: null });
const decided = (decision: string): Probe => ({ completed: true, success: null, decision });
const errored: Probe = { completed: false, success: null, decision: null };

function tableOf(probes: readonly Probe[]) {
  const table = emptyTable({ total: CASES * COLUMNS * REPEATS, columns: COLUMNS, repeats: REPEATS });
  addBlock(table, block(probes));
  return table;
}

const all = (probe: Probe) => Array.from({ length: CASES * COLUMNS * REPEATS }, () => probe);
const index = (row: number, column: number, repeat = 0) => (column * CASES + row) * REPEATS + repeat;
const everything = (table: ReturnType<typeof tableOf>) => chooseProbes(table, { ranges: {}, matching: null });
const shown = (probes: readonly Probe[], mode?: Mode, order?: RowOrder) => {
  const table = tableOf(probes);
  return rowsOf(table, everything(table), mode, order);
};

test("a cell has the repeats of its case and column", () => {
  const probes = all(judged(true));
  probes[index(2, 1, 1)] = judged(false);
  expect(readCell(tableOf(probes), 2, 1)).toMatchObject({ firstIndex: index(2, 1), passed: 1, judged: 2 });
  expect(readCell(tableOf(probes), 1, 1)?.outcomes).toEqual([Outcome.PASSED, Outcome.PASSED]);
});

test("a cell of a block that is not loaded is not there", () => {
  const table = emptyTable({ total: CASES * COLUMNS * REPEATS, columns: COLUMNS, repeats: REPEATS });
  expect(readCell(table, 0, 0)).toBeNull();
});

test("the mean decision leaves out what is no number", () => {
  const probes = all(decided("4"));
  probes[index(0, 0, 1)] = decided("other");
  expect(readCell(tableOf(probes), 0, 0)).toMatchObject({ meanDecision: 4, decided: 1 });
});

test("targets differ where the majority of their repeats does", () => {
  const probes = all(judged(true));
  probes[index(1, 0, 0)] = judged(false);
  expect(shown(probes, "differ")).toEqual([]);
  probes[index(1, 0, 1)] = judged(false);
  expect([shown(probes, "differ"), shown(probes, "unstable")]).toEqual([[1], []]);
});

test("without results, targets differ by a point of their mean decision", () => {
  const probes = all(decided("4"));
  probes[index(1, 0, 0)] = decided("3");
  expect([shown(probes, "differ"), shown(probes, "unstable")]).toEqual([[], [1]]);
  probes[index(1, 0, 1)] = decided("3");
  expect([shown(probes, "differ"), shown(probes, "unstable")]).toEqual([[1], []]);
});

test("rows without a figure come last in any order", () => {
  const probes = all(judged(true));
  for (let column = 0; column < COLUMNS; column++)
    for (let repeat = 0; repeat < REPEATS; repeat++) probes[index(0, column, repeat)] = errored;
  probes[index(3, 0, 0)] = judged(false);
  expect(shown(probes, undefined, "lowest")).toEqual([3, 1, 2, 0]);
});

test("every mode shows exactly the rows that a slow reading of the probes finds", () => {
  const probe = fc.record({
    completed: fc.constantFrom(true, true, false, null),
    success: fc.constantFrom(true, false, null),
    decision: fc.constant(null),
  });
  const size = CASES * COLUMNS * REPEATS;
  fc.assert(
    fc.property(fc.array(probe, { minLength: size, maxLength: size }), (drawn) => {
      const probes = drawn.map((each) => (each.completed ? each : { ...each, success: null }));
      const found: Record<Mode, number[]> = { differ: [], unstable: [] };
      for (let row = 0; row < CASES; row++) {
        const cells = [0, 1, 2].map((column) =>
          [0, 1]
            .map((repeat) => probes[index(row, column, repeat)]?.success ?? null)
            .filter((each) => each !== null),
        );
        const isPassed = cells
          .filter((cell) => cell.length > 0)
          .map((cell) => 2 * cell.filter(Boolean).length >= cell.length);
        if (new Set(isPassed).size > 1) found.differ.push(row);
        if (cells.some((cell) => new Set(cell).size > 1)) found.unstable.push(row);
      }
      for (const mode of MODES)
        expect(shown(probes, mode, "spread").toSorted((one, other) => one - other)).toEqual(found[mode]);
    }),
  );
});

test("a cell shows its first failed repeat that is listed", () => {
  const probes = all(judged(true));
  probes[index(2, 1, 1)] = judged(false);
  const table = tableOf(probes);
  expect(probeOfCell(table, 2, 1, () => true)).toBe(index(2, 1, 1));
  expect(probeOfCell(table, 2, 1, (each) => each !== index(2, 1, 1))).toBe(index(2, 1));
  expect(probeOfCell(table, 2, 1, () => false)).toBe(index(2, 1));
});

test("the next failure is searched row by row, from target to target", () => {
  const probes = all(judged(true));
  for (const at of [index(0, 2), index(1, 0, 1), index(3, 1)]) probes[at] = judged(false);
  const table = tableOf(probes);
  const rows = [3, 0, 1];
  const isFailed = (each: number) => table.outcome[each] === Outcome.FAILED;
  const next = (from: number | undefined, direction: 1 | -1 = 1) =>
    neighborOf(table, rows, [0, 1, 2], from, direction, isFailed);
  expect(next(undefined)).toBe(index(3, 1));
  expect(next(index(3, 1))).toBe(index(0, 2));
  expect(next(index(0, 2))).toBe(index(1, 0, 1));
  expect(next(index(1, 0, 1))).toBeUndefined();
  expect(next(undefined, -1)).toBe(index(1, 0, 1));
  expect(neighborOf(table, rows, [1], index(3, 1), 1, isFailed)).toBeUndefined();
  expect(next(index(2, 0))).toBe(index(3, 1));
});

test("checks are counted by target, the worst first", () => {
  const probes = all(judged(true));
  probes[index(0, 1)] = judged(false);
  probes[index(0, 2)] = errored;
  const size = CASES * REPEATS;
  expect(checkRows(tableOf(probes))).toEqual([
    {
      name: "policy",
      rates: [size, size - 1, size - 1].map((passed, at) => ({ passed, judged: at < 2 ? size : size - 1 })),
    },
    { name: "length", rates: [size, size, size - 1].map((passed) => ({ passed, judged: passed })) },
  ]);
});

test("tags are counted, the most frequent first", () => {
  const table = tableOf(all(judged(true)));
  table.labels.tag.push("policy", "tone", "absent");
  const tags = [[0], [1, 0], [1], [1], ...table.tags.slice(4)];
  expect(tagCounts({ ...table, tags })).toEqual([
    { tag: "tone", count: 3 },
    { tag: "policy", count: 2 },
    { tag: "absent", count: 0 },
  ]);
});

test("at most as many columns are side by side as fit, and the opened one is among them", () => {
  expect([sideBySide(2, 1, 4), sideBySide(6, 0, 4), sideBySide(6, 5, 4)]).toEqual([
    [0, 1],
    [0, 1, 2, 3],
    [2, 3, 4, 5],
  ]);
});
