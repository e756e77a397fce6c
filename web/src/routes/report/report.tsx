import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { isTerminal, runQuery } from "../../api/queries";
import { jobsQuery, readMarkdown, reportQuery, reportsQuery } from "../../api/reports";
import { useCanWrite } from "../../api/role";
import type { Report, Run } from "../../api/types";
import { formatAgo, visible } from "../../lib/format";
import { CopyButton } from "../../ui/copy";
import { useNow } from "../../ui/now";
import page from "../../ui/page.module.css";
import { Empty, Failure, Loading } from "../../ui/states";
import { Contents } from "./contents";
import { MakeReport } from "./make";
import styles from "./report.module.css";

const route = getRouteApi("/runs/$id/report");

export function ReportPage() {
  const { id } = route.useParams();
  const run = useQuery(runQuery(id));
  const reports = useQuery(reportsQuery(id));
  const error = run.error ?? reports.error;
  if (error) {
    const retry = () => {
      void run.refetch();
      void reports.refetch();
    };
    return <Failure error={error} what="Reports" retry={retry} />;
  }
  if (!run.data || !reports.data) return <Loading what="the report" />;
  return <Reports run={run.data} reports={reports.data.items} />;
}

function Reports({ run, reports }: { run: Run; reports: readonly Report[] }) {
  const { version } = route.useSearch();
  const canWrite = useCanWrite();
  const shown =
    reports.find((each) => each.id === version) ??
    reports.find((each) => each.status === "COMPLETED") ??
    reports[0];
  const inWork = reports.find((each) => each.status === "QUEUED" || each.status === "RUNNING");
  if (shown === undefined) return <None run={run} canWrite={canWrite} />;
  return (
    <>
      <Toolbar run={run} reports={reports} shown={shown} />
      {inWork && <InWork report={inWork} />}
      {shown.status === "FAILED" && <Failed report={shown} />}
      {shown.isStale && shown.status === "COMPLETED" && (
        <p className={page.warning} role="status">
          The results of the run have changed since this report.
        </p>
      )}
      <ReportView run={run} report={shown} />
      {canWrite && !inWork && isTerminal(run.status) && (
        <details className={page.fold} data-screen-only>
          <summary>Create another report</summary>
          <p className={page.note}>
            A report of the same outcomes by the same summarizer exists only once: ask another model, or make
            it again when outcomes have changed.
          </p>
          <MakeReport run={run} />
        </details>
      )}
    </>
  );
}

function None({ run, canWrite }: { run: Run; canWrite: boolean }) {
  if (!isTerminal(run.status)) {
    return (
      <Empty title="No report yet">
        <p>
          A report can be made when the run has ended.
          {run.report && " This run gets one by itself."}
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No report yet">
      <p>
        A report says how often each target passed, what it took and cost, and why conversations failed, with
        quotations; a model adds a summary and suggests a revised system prompt.
      </p>
      {canWrite ? <MakeReport run={run} /> : <p>Creating one needs the role member or admin.</p>}
    </Empty>
  );
}

/** Shows which report is shown, and its actions. */
function Toolbar({ run, reports, shown }: { run: Run; reports: readonly Report[]; shown: Report }) {
  const now = useNow();
  const navigate = route.useNavigate();
  const newest = reports.find((each) => each.status === "COMPLETED");
  return (
    <div className={page.bar} data-screen-only data-actions>
      <label className={styles.version}>
        Report
        <select
          value={shown.id}
          onChange={(event) => void navigate({ search: { version: event.target.value }, replace: true })}
        >
          {reports.map((each) => (
            <option key={each.id} value={each.id}>
              {formatAgo(each.createdAt, now)}, {visible(each.summarizerModel ?? "without a summary")}
              {each.status === "COMPLETED" ? "" : `, ${each.status.toLowerCase()}`}
            </option>
          ))}
        </select>
      </label>
      {newest?.id === shown.id && (
        <>
          <CopyButton label="Copy as Markdown" text={() => readMarkdown(run.id)} />
          <button type="button" onClick={() => window.print()}>
            Print…
          </button>
        </>
      )}
    </div>
  );
}

/** Shows a report that is being made, by the stage of its job. */
function InWork({ report }: { report: Report }) {
  const jobs = useQuery(jobsQuery(report.runId));
  const job = jobs.data?.items.find((each) => each.kind === "report" && each.resultId.endsWith(report.id));
  return (
    <p className={page.warning} role="status">
      {job?.stage
        ? `The report is being made: ${job.stage} (step ${job.progress.done + 1} of ${job.progress.total}).`
        : "The report is queued."}{" "}
      It goes on without this page.
    </p>
  );
}

function Failed({ report }: { report: Report }) {
  const { failure } = report;
  return (
    <Empty title="This report could not be made">
      <p>
        {failure ? visible(`${failure.where}: ${failure.why}`) : "Its job failed."} The run is not affected.
      </p>
    </Empty>
  );
}

function ReportView({ run, report }: { run: Run; report: Report }) {
  const query = useQuery(reportQuery(run.id, report));
  if (report.status !== "COMPLETED") return null;
  if (query.isError)
    return <Failure error={query.error} what="The report" retry={() => void query.refetch()} />;
  if (!query.data?.content) return <Loading what="the report" />;
  return <Contents run={run} report={report.id} content={query.data.content} texts={query.data.texts} />;
}
