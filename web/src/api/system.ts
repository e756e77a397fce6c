import { queryOptions } from "@tanstack/react-query";
import { api, read, readTagged } from "./client";
import { listQuery, readAll } from "./lists";
import type { DeadLetter, Provider, ProviderQueue, Schemas, Token } from "./types";

const QUEUE_MS = 5_000;

export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: ({ signal }) => readTagged(api.GET("/v1/settings", { signal })),
  refetchOnReconnect: false, // Edited fields stay as they were when they were opened.
});

export const budgetsQuery = queryOptions({
  queryKey: ["budgets"],
  queryFn: ({ signal }) => read(api.GET("/v1/budgets", { signal })),
});

export const tokensQuery = listQuery<Token>(["tokens"], (query, signal) =>
  read(api.GET("/v1/tokens", { signal, params: { query } })),
);

export const providersQuery = queryOptions({
  queryKey: ["providers"],
  queryFn: ({ signal }) =>
    readAll<Provider>((query) => read(api.GET("/v1/providers", { signal, params: { query } }))),
});

export const providerQuery = (name: string) =>
  queryOptions({
    queryKey: ["providers", name],
    queryFn: ({ signal }) =>
      readTagged(api.GET("/v1/providers/{name}", { signal, params: { path: { name } } })),
  });

export const modelsOfQuery = (provider: string) =>
  listQuery<Schemas["Model"]>(["models", provider], (query, signal) =>
    read(api.GET("/v1/models", { signal, params: { query: { ...query, provider } } })),
  );

/** The counts are of the moment, so they are polled while the page is visible. */
export const queuesQuery = queryOptions({
  queryKey: ["queue"],
  queryFn: ({ signal }) =>
    readAll<ProviderQueue>((query) => read(api.GET("/v1/queue", { signal, params: { query } }))),
  refetchInterval: QUEUE_MS,
});

export const deadLettersQuery = listQuery<DeadLetter>(["queue", "dead-letters"], (query, signal) =>
  read(api.GET("/v1/queue/dead-letters", { signal, params: { query } })),
);
