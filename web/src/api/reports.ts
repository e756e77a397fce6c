import { queryOptions } from "@tanstack/react-query";
import { api, nullIfNotFound, read } from "./client";
import type { Report, Schemas, Trial, TrialBody } from "./types";

const WATCH_MS = 2_000;

function isMade(report: Report): boolean {
  return report.status === "QUEUED" || report.status === "RUNNING";
}

/** Lists the reports of a run, newest first, and polls while one of them is being made. */
export const reportsQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "reports"],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/runs/{run_id}/reports", { signal, params: { path: { run_id: id } } })),
    refetchInterval: (query) => (query.state.data?.items.some(isMade) ? WATCH_MS : false),
  });

export const reportQuery = (id: string, report: Report | undefined) =>
  queryOptions({
    queryKey: ["run", id, "reports", report?.id, report?.status],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/runs/{run_id}/reports/{report_id}", {
          signal,
          params: { path: { run_id: id, report_id: report?.id ?? "" } },
        }),
      ),
    enabled: report?.status === "COMPLETED",
  });

/** Lists the jobs that read a run, including a report that is being made. */
export const jobsQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "jobs"],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/jobs", { signal, params: { query: { runId: id, limit: 100 } } })),
    refetchInterval: WATCH_MS,
  });

/** `undefined` selects the judge of the run, null no summary. The caller asks before it allows an unknown price. */
export function createReport(
  id: string,
  summarizerModel: string | null | undefined,
  allowUnpriced: boolean,
): Promise<Report> {
  const body = { allowUnpriced, ...(summarizerModel !== undefined && { summarizerModel }) };
  return read(api.POST("/v1/runs/{run_id}/reports", { params: { path: { run_id: id } }, body }));
}

/** Reads the newest completed report as Markdown. */
export function readMarkdown(id: string): Promise<string> {
  return read(
    api.GET("/v1/runs/{run_id}/report", {
      params: { path: { run_id: id }, query: { format: "md" } },
      parseAs: "text",
    }),
  ) as Promise<unknown> as Promise<string>;
}

const pathOf = (run: string, report: string) => ({ path: { run_id: run, report_id: report } });

/** Reads a trial or null, and polls while it goes on. */
export const trialQuery = (run: string, report: string) =>
  queryOptions({
    queryKey: ["run", run, "reports", report, "trial"],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/runs/{run_id}/reports/{report_id}/trial", { signal, params: pathOf(run, report) }),
      ).catch(nullIfNotFound),
    refetchInterval: (query) => (query.state.data?.status === "RUNNING" ? WATCH_MS : false),
  });

export function estimateTrial(run: string, report: string, body: TrialBody): Promise<Schemas["TrialPlan"]> {
  return read(
    api.POST("/v1/runs/{run_id}/reports/{report_id}/trial/estimate", { params: pathOf(run, report), body }),
  );
}

export function createTrial(run: string, report: string, body: TrialBody): Promise<Trial> {
  return read(api.POST("/v1/runs/{run_id}/reports/{report_id}/trial", { params: pathOf(run, report), body }));
}
