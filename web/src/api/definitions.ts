import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import { ratesByScenario } from "../lib/scenario_table";
import type { DefinitionsSearch } from "../lib/search";
import { api, read, readTagged } from "./client";
import type { Schemas } from "./types";

const WATCH_MS = 2_000;

export const decisionsQuery = (pattern: string, answers: readonly string[]) =>
  queryOptions({
    queryKey: ["decisions", pattern, answers],
    queryFn: ({ signal }) =>
      read(api.POST("/v1/decisions", { signal, body: { pattern, answers: [...answers] } })),
    enabled: answers.length > 0,
    placeholderData: keepPreviousData,
    retry: false,
  });

const cursorOf = (page: { nextCursor: string | null }) => page.nextCursor ?? undefined;

export const definitionListQuery = (search: DefinitionsSearch) =>
  infiniteQueryOptions({
    queryKey: ["definitions", "list", search],
    queryFn: ({ signal, pageParam }) =>
      read(
        api.GET("/v1/definitions", {
          signal,
          params: {
            query: {
              limit: 50,
              ...(search.name && { search: search.name }),
              ...(search.folder && { folder: search.folder, includeChildren: true }),
              ...(search.tag && { tag: search.tag }),
              ...(pageParam && { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: cursorOf,
  });

export const definitionQuery = (id: string, version?: number) =>
  queryOptions({
    queryKey: ["definition", id, version ?? "latest"],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/definitions/{definition_id}", {
          signal,
          params: { path: { definition_id: id }, query: version === undefined ? {} : { version } },
        }),
      ),
    // A version never changes.
    staleTime: version === undefined ? 1_000 : Number.POSITIVE_INFINITY,
  });

/** Reads the latest version with its ETag for a change. Edited fields stay as they were when they were opened. */
export const definitionEditQuery = (id: string) =>
  queryOptions({
    queryKey: ["definition", id, "edit"],
    queryFn: ({ signal }) =>
      readTagged(
        api.GET("/v1/definitions/{definition_id}", { signal, params: { path: { definition_id: id } } }),
      ),
    staleTime: 0,
    gcTime: 0,
    refetchOnReconnect: false,
  });

export const forksQuery = (id: string) =>
  queryOptions({
    queryKey: ["definition", id, "forks"],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/definitions/{definition_id}/descendants", {
          signal,
          params: { path: { definition_id: id }, query: { limit: 100 } },
        }),
      ),
  });

export const scenariosQuery = (id: string, version: number) =>
  infiniteQueryOptions({
    queryKey: ["definition", id, version, "scenarios"],
    queryFn: ({ signal, pageParam }) =>
      read(
        api.GET("/v1/definitions/{definition_id}/scenarios", {
          signal,
          params: {
            path: { definition_id: id },
            query: { version, limit: 100, ...(pageParam && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: cursorOf,
    // The scenarios of a version never change; those of the version before are shown while the next one's are read.
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before, query) => (query?.queryKey[1] === id ? before : undefined),
  });

/** Stores a changed scenario in the rows of the definition's next version, which are then not read again. */
export function storeScenario(
  client: QueryClient,
  shownVersion: number,
  { definitionId, definitionVersion, ...scenario }: Schemas["ScenarioDetail"],
): Promise<void> {
  const rows = client.getQueryData(scenariosQuery(definitionId, shownVersion).queryKey);
  // Somebody else may have changed other scenarios meanwhile.
  if (rows === undefined || definitionVersion !== shownVersion + 1)
    return client.invalidateQueries({ queryKey: ["definition", definitionId] });
  const pages = rows.pages.map((page) => ({
    ...page,
    items: page.items.map((each) => (each.id === scenario.id ? scenario : each)),
  }));
  client.setQueryData(scenariosQuery(definitionId, definitionVersion).queryKey, { ...rows, pages });
  return client.invalidateQueries({ queryKey: definitionQuery(definitionId).queryKey });
}

/** This many scenarios have their last pass rates read: more would take too many requests. */
const MOST_RATED = 1_000;
const MOST_SCORES = 2_000;

/** Reads the pass rates of the latest completed run by scenario; null without one, and for large runs. */
export const lastRatesQuery = (id: string) =>
  queryOptions({
    queryKey: ["runs", "rates", id],
    queryFn: async ({ signal }) => {
      const [run] = (
        await read(
          api.GET("/v1/runs", {
            signal,
            params: { query: { definitionId: id, status: "COMPLETED", limit: 1 } },
          }),
        )
      ).items;
      if (run === undefined || run.scenarioCount > MOST_RATED) return null;
      const scores: Schemas["ScenarioScores"][] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        if (scores.length >= MOST_SCORES) return null;
        const page: Schemas["ScenarioScoresPage"] = await read(
          api.GET("/v1/runs/{run_id}/scores/scenarios", {
            signal,
            params: { path: { run_id: run.id }, query: { limit: 100, ...(cursor && { cursor }) } },
          }),
        );
        scores.push(...page.items);
        cursor = page.nextCursor;
      }
      return { run, rates: ratesByScenario(scores) };
    },
    staleTime: 60_000,
  });

/** Reads a scenario with its ETag for a change. Edited fields stay as they were when they were opened. */
export const scenarioQuery = (id: string, scenario: string, version?: number) =>
  queryOptions({
    queryKey: ["scenario", id, scenario, version ?? "latest"],
    queryFn: ({ signal }) =>
      readTagged(
        api.GET("/v1/definitions/{definition_id}/scenarios/{scenario_id}", {
          signal,
          params: {
            path: { definition_id: id, scenario_id: scenario },
            query: version === undefined ? {} : { version },
          },
        }),
      ),
    staleTime: 0,
    gcTime: 0,
    refetchOnReconnect: false,
  });

export const generationQuery = (id: string, generation: string) =>
  queryOptions({
    queryKey: ["definition", id, "generation", generation],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/definitions/{definition_id}/scenarios/generations/{generation_id}", {
          signal,
          params: { path: { definition_id: id, generation_id: generation } },
        }),
      ),
    refetchInterval: (query) => {
      const status = query.state.data?.status;
      return status === "COMPLETED" || status === "ERROR" ? false : WATCH_MS;
    },
  });
