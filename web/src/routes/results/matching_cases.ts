import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { runQuery } from "../../api/queries";
import { type LoadedTable, useAllCaseNames, useAllCaseTexts, useProbeTable } from "../../api/tables";
import type { Run } from "../../api/types";
import { matchingCases } from "../../lib/cases";
import { changedCases } from "../../lib/changed_cases";
import type { ResultsSearch } from "../../lib/search";

interface MatchingCases {
  /** It is null where no filter is by cases. */
  readonly cases: ReadonlySet<number> | null;
  readonly isPending: boolean;
  readonly failures: readonly Failed[];
}

interface Failed {
  readonly what: string;
  readonly error: unknown;
  readonly retry: () => void;
}

/** Finds the cases with certain words, or a value of a variable, that changed since another run. */
export function useMatchingCases(run: Run, now: LoadedTable, search: ResultsSearch): MatchingCases {
  const { q, where, since } = search;
  const { table, version } = now;
  const isSince = since !== undefined && since !== run.id;
  const needsNames = q !== undefined || isSince;
  const needsTexts = q !== undefined || where !== undefined;
  const names = useAllCaseNames(run.id, table.cases, needsNames);
  const texts = useAllCaseTexts(run.id, table.cases, needsTexts);
  const other = useQuery({ ...runQuery(since ?? run.id), enabled: isSince });
  const earlier = useProbeTable(other.data ?? run, isSince && other.data !== undefined);
  const earlierNames = useAllCaseNames(
    since ?? run.id,
    earlier.table.cases,
    isSince && other.data !== undefined,
  );
  const areTablesLoaded = [now, earlier].every((each) => each.loaded === each.blocks);
  const isCompared = areTablesLoaded && names.data !== undefined && earlierNames.data !== undefined;
  const found = useMemo(
    () => matchingCases(names.data, texts.data, { q, where }),
    [names.data, texts.data, q, where],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the versions say that the tables have changed
  const changed = useMemo(() => {
    if (!isSince) return null;
    if (!isCompared) return new Set<number>();
    return changedCases(table, names.data ?? [], earlier.table, earlierNames.data ?? []);
  }, [isSince, isCompared, table, version, names.data, earlier.table, earlier.version, earlierNames.data]);
  const cases = useMemo(() => intersection(found, changed), [found, changed]);
  const queries = [
    ["The other run", other],
    ["Scenario names", names],
    ["Scenario names of the other run", earlierNames],
    ["Inputs", texts],
  ] as const;
  const failures: Failed[] = queries
    .filter(([, each]) => each.isError)
    .map(([what, { error, refetch }]) => ({ what, error, retry: () => void refetch() }));
  if (isSince && earlier.error !== null)
    failures.push({ what: "The results of the other run", error: earlier.error, retry: earlier.retry });
  const isMissing =
    (needsNames && names.data === undefined) ||
    (needsTexts && texts.data === undefined) ||
    (isSince && !isCompared);
  return { cases, isPending: isMissing && failures.length === 0, failures };
}

function intersection(
  one: ReadonlySet<number> | null,
  other: ReadonlySet<number> | null,
): ReadonlySet<number> | null {
  if (one === null || other === null) return one ?? other;
  return new Set([...one].filter((each) => other.has(each)));
}
