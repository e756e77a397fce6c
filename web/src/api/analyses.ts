import { queryOptions } from "@tanstack/react-query";
import { api, nullIfNotFound, read } from "./client";
import type { Schemas } from "./types";

const WATCH_MS = 1_000;

export const analysisQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "analysis"],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/runs/{run_id}/analysis", { signal, params: { path: { run_id: id } } })),
  });

/** Reads the figures by group of cases; without `by`, only the fields that the run can be grouped by. */
export const breakdownQuery = (id: string, by: string | null) =>
  queryOptions({
    queryKey: ["run", id, "analysis", "breakdown", by],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/runs/{run_id}/analysis/breakdown", {
          signal,
          params: { path: { run_id: id }, query: by === null ? {} : { by } },
        }),
      ),
  });

export const deepAnalysisQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "analysis", "deep"],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/runs/{run_id}/analysis/deep", { signal, params: { path: { run_id: id } } })).catch(
        nullIfNotFound,
      ),
  });

/** Starts a deep analysis, unless nothing has changed since the last one. `jobId` names its job. */
export function analyzeDeeply(id: string, narrative: boolean): Promise<Schemas["AnalysisSummary"]> {
  const body = { kind: "deep", force: false, narrative } as const;
  return read(api.POST("/v1/runs/{run_id}/analysis", { params: { path: { run_id: id } }, body }));
}

/** Computes the figures that need no model, unless nothing has changed since the last time. */
export function analyze(id: string): Promise<Schemas["AnalysisSummary"]> {
  const body = { kind: "basic", force: false, narrative: false } as const;
  return read(api.POST("/v1/runs/{run_id}/analysis", { params: { path: { run_id: id } }, body }));
}

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ["job", id],
    queryFn: ({ signal }) => read(api.GET("/v1/jobs/{job_id}", { signal, params: { path: { job_id: id } } })),
    refetchInterval: (query) => (isOver(query.state.data) ? false : WATCH_MS),
  });

export function isOver(job: Schemas["Job"] | undefined): boolean {
  return job?.status === "COMPLETED" || job?.status === "FAILED";
}
