import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseRows, MODES, type Mode, rowFigures, sideBySide } from "./matrix";
import { addBlock, emptyTable, Outcome, type ProbeColumns, readCell } from "./probe_table";

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
    failedChecks: probes.map(() => []),
    turns: unknown,
    inputTokens: probes.map(() => 3),
    outputTokens: probes.map((_, index) => index),
    durationMs: unknown,
    costUsd: unknown,
    errorCode: unknown,
    tagNames: [],
    checkNames: [],
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
const shown = (probes: readonly Probe[], mode: Mode | undefined) =>
  chooseRows(tableOf(probes), { mode, order: undefined, matching: null });

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

test("an errored repeat is an error and no failure", () => {
  const probes = all(judged(true));
  probes[index(3, 2)] = errored;
  expect([shown(probes, "errors"), shown(probes, "failures")]).toEqual([[3], []]);
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
  const rows = chooseRows(tableOf(probes), { mode: undefined, order: "lowest", matching: null });
  expect(rows).toEqual([3, 1, 2, 0]);
});

test("every mode shows exactly the rows that a slow reading of the probes finds", () => {
  const probe = fc.record({
    completed: fc.constantFrom(true, true, false, null),
    success: fc.constantFrom(true, false, null),
    decision: fc.constantFrom(null, "1", "3", "5", "other"),
  });
  const size = CASES * COLUMNS * REPEATS;
  fc.assert(
    fc.property(fc.array(probe, { minLength: size, maxLength: size }), (drawn) => {
      const probes = drawn.map((each) =>
        each.completed ? each : { ...each, success: null, decision: null },
      );
      const table = tableOf(probes);
      for (let row = 0; row < CASES; row++) {
        const ofRow = probes.filter((_, at) => Math.floor(at / REPEATS) % CASES === row);
        const figures = rowFigures(table, row);
        expect(figures.failed).toBe(ofRow.some((each) => each.success === false));
        expect(figures.errored).toBe(ofRow.some((each) => each.completed === false));
        expect(figures.judged).toBe(ofRow.filter((each) => each.success !== null).length);
      }
      for (const mode of MODES) {
        const rows = chooseRows(table, { mode, order: "spread", matching: null });
        expect(new Set(rows).size).toBe(rows.length);
      }
    }),
  );
});

test("rows are grouped by level, those without one last, each group in its order", () => {
  const probes = Array.from({ length: CASES * COLUMNS * REPEATS }, (_, at) =>
    judged(Math.floor(at / REPEATS) % CASES !== 0),
  );
  const levels = new Map([
    [0, 5],
    [1, 5],
    [3, 1],
  ]);
  const choice = { mode: undefined, matching: null, levels };
  expect(chooseRows(tableOf(probes), { ...choice, order: undefined })).toEqual([3, 0, 1, 2]);
  expect(chooseRows(tableOf(probes), { ...choice, order: "lowest" })).toEqual([3, 0, 1, 2]);
  expect(chooseRows(tableOf(probes), { ...choice, order: undefined, matching: new Set([0, 2, 3]) })).toEqual([
    3, 0, 2,
  ]);
});

test("at most as many columns are side by side as fit, and the opened one is among them", () => {
  expect([sideBySide(2, 1, 4), sideBySide(6, 0, 4), sideBySide(6, 5, 4)]).toEqual([
    [0, 1],
    [0, 1, 2, 3],
    [2, 3, 4, 5],
  ]);
});
