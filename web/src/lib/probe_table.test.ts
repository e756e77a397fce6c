import { expect, test } from "vitest";
import { addBlock, BLOCK, emptyTable, Outcome, type ProbeColumns, unsettledBlocks } from "./probe_table";
import { chooseProbes, labelText, type ProbeChoice } from "./probes";

test("blocks are read again until every probe of them has an outcome that stays", () => {
  const table = emptyTable({ total: 3.5 * BLOCK, columns: 1, repeats: 1 });
  expect(unsettledBlocks(table)).toEqual([0, 1, 2, 3]);
  table.loaded.fill(1);
  table.outcome.fill(Outcome.PASSED);
  table.outcome[BLOCK] = Outcome.NONE;
  table.outcome[3.5 * BLOCK - 1] = Outcome.ERRORED;
  expect(unsettledBlocks(table)).toEqual([1, 3]);
});

/** Of two probes: the first is errored, the second has failed with both tags. */
function block(firstIndex: number, tagNames: string[], error: string): ProbeColumns {
  return {
    runId: "run_1",
    firstIndex,
    isFinal: true,
    column: [0, 0],
    case: [firstIndex, firstIndex + 1],
    repeat: [0, 0],
    completed: [false, true],
    success: [null, false],
    score: [null, 0],
    decision: [null, "4"],
    tags: [[], [0, 1]],
    failedChecks: [[], [0]],
    passedChecks: [],
    turns: [null, 1],
    inputTokens: [null, 1],
    outputTokens: [null, 1],
    durationMs: [null, 1],
    costUsd: [null, 0],
    errorCode: [error, null],
    tagNames,
    checkNames: [`check of ${firstIndex}`],
  };
}

test("tags, checks and errors have one name each, whatever its position in a block", () => {
  const table = emptyTable({ total: 4, columns: 1, repeats: 1 });
  addBlock(table, block(0, ["policy", "tone"], "timeout"));
  addBlock(table, block(2, ["tone", "length"], "refused"));
  expect(table.labels).toEqual({
    tag: ["policy", "tone", "length"],
    check: ["check of 0", "check of 2"],
    error: ["timeout", "refused"],
  });
  expect([1, 3].map((index) => labelText(table, "tag", index))).toEqual(["policy, tone", "tone, length"]);
  expect([0, 1, 2].map((index) => labelText(table, "error", index))).toEqual(["timeout", "", "refused"]);
  expect(labelText(table, "check", 3)).toBe("check of 2");
});

test.each<[Partial<ProbeChoice>, number[]]>([
  [{ labels: { tag: "tone" } }, [1, 3]],
  [{ labels: { tag: "length" } }, [3]],
  [{ labels: { tag: "unknown" } }, []],
  [{ labels: { check: "check of 0" } }, [1]],
  [{ labels: { error: "refused" } }, [2]],
  [{ labels: { error: "unknown" } }, []],
  [{ labels: { error: "refused", tag: "tone" } }, []],
  [{ decision: "4" }, [1, 3]],
  [{ decision: "none" }, [0, 2]],
  [{ said: new Set([0, 3]) }, [0, 3]],
  [{ said: new Set([0, 3]), decision: "4" }, [3]],
])("probes are chosen by %o", (choice, expected) => {
  const table = emptyTable({ total: 4, columns: 1, repeats: 1 });
  addBlock(table, block(0, ["policy", "tone"], "timeout"));
  addBlock(table, block(2, ["tone", "length"], "refused"));
  expect([...chooseProbes(table, { ranges: {}, matching: null, ...choice })]).toEqual(expected);
});
