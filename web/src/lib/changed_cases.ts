import type { CaseName } from "../api/types";
import { Outcome, type ProbeTable } from "./probe_table";

/** Cases are the same if scenario and persona are; a case that only one run has is changed. */
export function changedCases(
  table: ProbeTable,
  names: readonly CaseName[],
  earlier: ProbeTable,
  earlierNames: readonly CaseName[],
): Set<number> {
  const keyOf = (each: CaseName) => `${each.scenarioId} ${each.personaId ?? ""}`;
  const before = new Map(earlierNames.map((each) => [keyOf(each), rowRate(earlier, each.index)]));
  const isChanged = (each: CaseName) => before.get(keyOf(each)) !== rowRate(table, each.index);
  return new Set(names.filter(isChanged).map((each) => each.index));
}

/** Returns the share of passed probes of a case, without those that have no result; undefined if there are none. */
function rowRate(table: ProbeTable, row: number): number | undefined {
  let [passed, judged] = [0, 0];
  for (let column = 0; column < table.columns; column++) {
    const first = table.firstIndex[row * table.columns + column] ?? -1;
    for (let index = first; first >= 0 && index < first + table.repeats; index++) {
      if (table.outcome[index] === Outcome.PASSED) passed++;
      if (table.outcome[index] === Outcome.PASSED || table.outcome[index] === Outcome.FAILED) judged++;
    }
  }
  return judged === 0 ? undefined : passed / judged;
}
