import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { runQuery } from "../../api/queries";
import { useAllCaseNames, useProbeTable } from "../../api/tables";
import type { CaseName, Run } from "../../api/types";
import { Outcome, type ProbeTable } from "../../lib/probe_table";

export interface Since {
  /** It has the cases whose results differ from those of the other run; null without another run. */
  readonly changed: ReadonlySet<number> | null;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

/** Finds the cases of a run that passed or failed otherwise in an earlier run. */
export function useSince(run: Run, table: ProbeTable, version: number, id: string | undefined): Since {
  const isWanted = id !== undefined && id !== run.id;
  const other = useQuery({ ...runQuery(id ?? run.id), enabled: isWanted });
  const earlier = useProbeTable(other.data ?? run, isWanted && other.data !== undefined);
  const own = useAllCaseNames(run.id, table.cases, isWanted);
  const others = useAllCaseNames(id ?? run.id, earlier.table.cases, isWanted && other.data !== undefined);
  const isLoaded = earlier.loaded === earlier.blocks && own.data !== undefined && others.data !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the versions say that the tables have changed
  const changed = useMemo(() => {
    if (!isWanted) return null;
    if (!isLoaded) return new Set<number>();
    return changedCases(table, own.data ?? [], earlier.table, others.data ?? []);
  }, [isWanted, isLoaded, table, version, own.data, earlier.table, earlier.version, others.data]);
  const failed = [other, own, others].find((each) => each.isError);
  return {
    changed,
    isPending: isWanted && !isLoaded && !failed,
    error: failed?.error ?? null,
    retry: () => void failed?.refetch(),
  };
}

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
