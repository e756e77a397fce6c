import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { isWhole } from "../lib/pairs";
import { isTerminal } from "../lib/run_status";
import { api, read } from "./client";
import type { Change, Comparison, ScenarioChange, Schemas } from "./types";

const WATCH_MS = 1_000;

export const terminalRunsQuery = queryOptions({
  queryKey: ["runs", "to compare"],
  queryFn: ({ signal }) => read(api.GET("/v1/runs", { signal, params: { query: { limit: 100 } } })),
  select: (page) => page.items.filter((run) => isTerminal(run.status)),
});

/** Reads the newest comparison of two whole runs by their own scoring; null if there is none. */
export const comparisonOfQuery = (baseline: string, comparison: string) =>
  queryOptions({
    queryKey: ["comparison of", baseline, comparison],
    queryFn: async ({ signal }) => {
      const query = { runId: comparison, limit: 100 };
      const page = await read(api.GET("/v1/comparisons", { signal, params: { query } }));
      const isOf = (side: Schemas["ComparisonSide"], run: string) => side.runId === run && isWhole(side);
      const found = page.items.find(
        (each) => isOf(each.baseline, baseline) && isOf(each.comparison, comparison),
      );
      return found?.id ?? null;
    },
  });

/** Lists the newest comparisons of a run without their figures. */
export const comparisonsOfRunQuery = (run: string) =>
  queryOptions({
    queryKey: ["comparisons of", run],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/comparisons", { signal, params: { query: { runId: run, limit: 100 } } })),
  });

type ComparisonOptions = Omit<Schemas["CreateComparison"], "baseline" | "comparison">;

export function createComparison(
  baseline: string,
  comparison: string,
  options: ComparisonOptions = { alpha: 0.05 },
): Promise<Comparison> {
  const side = (runId: string) => ({ runId, targets: [], prompts: [] });
  return read(
    api.POST("/v1/comparisons", {
      body: { baseline: side(baseline), comparison: side(comparison), ...options },
    }),
  );
}

/** Reads one of many comparisons, which are refreshed one after the other: see `useReadAgain`. */
export const pairQuery = (id: string) => ({ ...comparisonQuery(id), refetchInterval: false as const });

export const comparisonQuery = (id: string) =>
  queryOptions({
    queryKey: ["comparison", id],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/comparisons/{comparison_id}", { signal, params: { path: { comparison_id: id } } })),
    refetchInterval: (query) =>
      query.state.data && ["QUEUED", "RUNNING"].includes(query.state.data.status) ? WATCH_MS : false,
  });

interface ChangesPage {
  row: number;
  limit: number;
  change: Change | undefined;
  cursor: string;
}

function readChanges(id: string, { row, limit, change, cursor }: ChangesPage, signal: AbortSignal) {
  return read(
    api.GET("/v1/comparisons/{comparison_id}/scenarios", {
      signal,
      params: {
        path: { comparison_id: id },
        query: { row, limit, ...(change && { change }), ...(cursor && { cursor }) },
      },
    }),
  );
}

export const scenarioChangesQuery = (id: string, row: number, change: Change | undefined) =>
  infiniteQueryOptions({
    queryKey: ["comparison", id, "scenarios", row, change],
    queryFn: ({ signal, pageParam }) =>
      readChanges(id, { row, limit: 50, change, cursor: pageParam }, signal),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });

export const MOST_DRAWN = 2_000;

/** Reads the scenarios of a pair, most changed first; `isCut` is set if there are more. */
export const allChangesQuery = (id: string, row: number) =>
  queryOptions({
    queryKey: ["comparison", id, "scenarios", row, "all"],
    queryFn: async ({ signal }) => {
      const items: ScenarioChange[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page = await readChanges(id, { row, limit: 100, change: undefined, cursor }, signal);
        items.push(...page.items);
        cursor = page.nextCursor;
        if (items.length >= MOST_DRAWN) return { items: items.slice(0, MOST_DRAWN), isCut: cursor !== null };
      }
      return { items, isCut: false };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

interface Column {
  targetId: string;
  promptId: string | null;
}

export const scenarioTranscriptsQuery = (run: string, scenarioId: string, column: Column | undefined) =>
  queryOptions({
    queryKey: ["run", run, "scenario", scenarioId, column?.targetId, column?.promptId],
    queryFn: async ({ signal }) => {
      const { targetId, promptId } = column ?? { targetId: "", promptId: null };
      const query = {
        scenarioId,
        limit: 100,
        ...(targetId && { model: targetId }),
        ...(promptId && { promptId }),
      };
      const found: Schemas["Transcript"][] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: Schemas["TranscriptPage"] = await read(
          api.GET("/v1/runs/{run_id}/transcripts", {
            signal,
            params: { path: { run_id: run }, query: { ...query, ...(cursor && { cursor }) } },
          }),
        );
        found.push(...page.items);
        cursor = page.nextCursor;
      }
      return found;
    },
    staleTime: 60_000,
  });
