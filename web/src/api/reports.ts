import { queryOptions } from "@tanstack/react-query";
import { api, read, type Schemas } from "./client";

export type Report = Schemas["Report"];
export type ReportContent = Schemas["ReportContent"];
export type ReportSummary = Schemas["ReportSummary"];
export type ReportFigures = Schemas["ReportFigures"];
export type Finding = Schemas["Finding"];

const WATCH_MS = 2_000;

function isMade(report: Report): boolean {
  return report.status === "QUEUED" || report.status === "RUNNING";
}

/** The reports of a run, newest first; asked again while one of them is being made. */
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

/** The jobs that read a run: a report that is being made is one of them. */
export const jobsQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "jobs"],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/jobs", { signal, params: { query: { runId: id, limit: 100 } } })),
    refetchInterval: WATCH_MS,
  });

/** `undefined` for the judge of the run, null for no summary. */
export function createReport(id: string, summarizerModel: string | null | undefined): Promise<Report> {
  const body = summarizerModel === undefined ? {} : { summarizerModel };
  return read(api.POST("/v1/runs/{run_id}/reports", { params: { path: { run_id: id } }, body }));
}

/** The newest completed report as Markdown. */
export function readMarkdown(id: string): Promise<string> {
  return read(
    api.GET("/v1/runs/{run_id}/report", {
      params: { path: { run_id: id }, query: { format: "md" } },
      parseAs: "text",
    }),
  ) as Promise<unknown> as Promise<string>;
}
