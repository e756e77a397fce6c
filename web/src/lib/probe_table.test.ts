import { expect, test } from "vitest";
import { BLOCK, emptyTable, Outcome, unsettledBlocks } from "./probe_table";

test("blocks are read again until every probe of them has an outcome that stays", () => {
  const table = emptyTable({ total: 3.5 * BLOCK, columns: 1, repeats: 1 });
  expect(unsettledBlocks(table)).toEqual([0, 1, 2, 3]);
  table.loaded.fill(1);
  table.outcome.fill(Outcome.PASSED);
  table.outcome[BLOCK] = Outcome.NONE;
  table.outcome[3.5 * BLOCK - 1] = Outcome.ERRORED;
  expect(unsettledBlocks(table)).toEqual([1, 3]);
});
