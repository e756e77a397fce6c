import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { DefinitionsSearch } from "../lib/search";
import { api, read, readTagged } from "./client";

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
    // Unfolded parts stay unfolded while the next version's are read.
    placeholderData: (before, query) => (query?.queryKey[1] === id ? before : undefined),
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
