import { queryOptions } from "@tanstack/react-query";
import { api, nullIfNotFound, read, readTagged } from "./client";
import type { Correction } from "./types";

/**
 * Reads a conversation with data that its transcript lacks (errors, attempts, thread, output) and its ETag, or null.
 */
export const probeQuery = (id: string) =>
  queryOptions({
    queryKey: ["probe", id],
    queryFn: ({ signal }) =>
      readTagged(api.GET("/v1/probes/{probe_id}", { signal, params: { path: { probe_id: id } } })).catch(
        nullIfNotFound,
      ),
    staleTime: 10_000,
  });

export function correct(id: string, result: Correction | null, etag: string | null) {
  const header = etag === null ? {} : { "If-Match": etag };
  return read(
    api.PATCH("/v1/probes/{probe_id}", {
      params: { path: { probe_id: id }, header },
      body: { result },
    }),
  );
}

export function readBlock(id: string, block: number, signal: AbortSignal) {
  return read(
    api.GET("/v1/runs/{run_id}/probe-columns", {
      signal,
      params: { path: { run_id: id }, query: { block } },
    }),
  );
}

/** Reads the first block, which a screen requests while its script is loaded. It is used once: see tables.ts. */
export const firstBlockQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "first-block"],
    queryFn: ({ signal }) => readBlock(id, 0, signal),
    staleTime: 10_000,
    gcTime: 10_000,
  });
