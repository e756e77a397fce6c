import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { ApiError, api, read } from "../api/client";
import { type Following, useFollowing } from "../api/live";
import { isTerminal, resultsQuery, runQuery, sessionQuery } from "../api/queries";
import { budgetsQuery } from "../api/system";
import type { Run } from "../api/types";
import { counted, formatAgo, formatCount, formatMs, formatUsd, visible } from "../lib/format";
import { noteOf } from "../lib/run_labels";
import { callsInFlightNote } from "../lib/run_status";
import { useNow } from "../ui/now";
import page from "../ui/page.module.css";
import { Failure, Loading } from "../ui/states";
import { Status } from "../ui/status";
import { Expand } from "./expand";
import { FollowedEvents } from "./followed_events";
import styles from "./run.module.css";
import { RunActions } from "./run_actions/run_actions";

const route = getRouteApi("/runs/$id");
const SECOND_MS = 1_000;

const Labelling = lazy(() => import("./labelling/labelling").then((each) => ({ default: each.Labelling })));

export function RunPage() {
  const { id } = route.useParams();
  const { label } = route.useSearch();
  if (label === undefined) return <WholeRun id={id} />;
  const leave = (
    <Link to="/runs/$id/judge" params={{ id }}>
      Back to the run
    </Link>
  );
  return (
    <Suspense fallback={<Loading what="the label set" />}>
      <Labelling runId={id} labelSetId={label} leave={leave} />
    </Suspense>
  );
}

function WholeRun({ id }: { id: string }) {
  const query = useQuery(runQuery(id));
  const following = useFollowing(query.data);
  if (query.isPending) return <Loading what="the run" />;
  if (query.data === undefined) {
    return <Failure error={query.error} what={`Run ${visible(id)}`} retry={() => void query.refetch()} />;
  }
  return (
    <>
      <Head run={query.data} />
      <Lost following={following} />
      {query.isError && <Failure error={query.error} what="The run" retry={() => void query.refetch()} />}
      <nav className={page.tabs} aria-label="Run" data-screen-only>
        <Link to="/runs/$id" params={{ id }} activeOptions={{ exact: true, includeSearch: false }}>
          Results
        </Link>
        <Link to="/runs/$id/analysis" params={{ id }}>
          Analysis
        </Link>
        <Link to="/runs/$id/judge" params={{ id }}>
          Judge
        </Link>
        <Link to="/runs/$id/report" params={{ id }} activeOptions={{ includeSearch: false }}>
          Report
        </Link>
        <Link to="/runs/$id/history" params={{ id }}>
          History
        </Link>
        <Link to="/runs/$id/settings" params={{ id }}>
          Settings
        </Link>
      </nav>
      <FollowedEvents value={following.events}>
        <Outlet />
      </FollowedEvents>
    </>
  );
}

/** Says that the run could not be followed for a while, so that the figures are as old as that. */
function Lost({ following: { lost } }: { following: Following }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (lost === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [lost]);
  const seconds = lost && Math.max(0, Math.ceil((lost.nextTry - now) / SECOND_MS));
  return (
    <div role="status">
      {lost && (
        <p className={styles.lost}>
          ‖ Reconnecting: figures are those of {new Date(lost.since).toLocaleTimeString()}.{" "}
          <span aria-hidden="true">
            {seconds ? `Next try in ${counted(seconds, "second")}.` : "Trying now."}
          </span>
        </p>
      )}
    </div>
  );
}

function Head({ run }: { run: Run }) {
  const now = useNow();
  const name = visible(run.name ?? run.definitionName);
  return (
    <header className={styles.head}>
      <title>{`${name} · Cupel`}</title>
      <div className={styles.subject}>
        <div className={styles.title}>
          <h1>{name}</h1>
          {isTerminal(run.status) && (
            <Link to="/compare" search={{ b: run.id }}>
              Compare <span className={styles.word}>with another run</span>
            </Link>
          )}
        </div>
        <p className={styles.facts}>
          <Status status={run.status} />
          <Cause run={run} />
          <span className={styles.definition}>
            <Link to="/runs" search={{ definition: run.definitionId }}>
              {visible(run.definitionName)}
            </Link>{" "}
            <span className={styles.word}>version</span>{" "}
            <span className={styles.version}>{run.definitionVersion}</span>
          </span>
          <span>{counted(run.progress.total, "conversation")}</span>
          <span title={new Date(run.createdAt).toLocaleString()}>
            <span className={styles.word}>created</span> {formatAgo(run.createdAt, now)}
          </span>
          {run.durationMs !== null && <span>took {formatMs(run.durationMs)}</span>}
          <span>
            <span className={run.spend.costUsd === null ? undefined : styles.word}>cost</span>{" "}
            {formatUsd(run.spend.costUsd)}
          </span>
          {run.tags.map((tag) => (
            <Link key={tag} to="/runs" search={{ tag }}>
              {visible(tag)}
            </Link>
          ))}
        </p>
        <Note run={run} />
      </div>
      <div className={styles.controls} data-actions>
        <Controls run={run} />
        <RunActions run={run} />
      </div>
    </header>
  );
}

function Note({ run }: { run: Run }) {
  const note = noteOf(run);
  return note && <p className={styles.note}>{visible(note)}</p>;
}

const PAUSED_BY = {
  user: "by request",
  budget: "because a budget is reached",
  provider: "because of a provider",
  judge: "because its judge gives no usable verdict",
} as const;

const EXHAUSTED = {
  run: "because its budget is used up",
  day: "because the workspace's budget of the day is used up",
  month: "because the workspace's budget of the month is used up",
} as const;

/** Says why a run is in its state, where that is not obvious. */
function Cause({ run }: { run: Run }) {
  if (run.failure)
    return <span className={styles.cause}>{visible(`${run.failure.where}: ${run.failure.why}`)}</span>;
  if (run.status === "PAUSED" && run.pauseReason) {
    const detail = run.pauseCause ? `: ${run.pauseCause.model}: ${run.pauseCause.message}` : "";
    const why = run.exhaustedBudget ? EXHAUSTED[run.exhaustedBudget] : PAUSED_BY[run.pauseReason];
    return (
      <span className={styles.cause}>
        {visible(why + detail)}
        <ResumesAt period={run.exhaustedBudget} />
      </span>
    );
  }
  return null;
}

/** Says when a run resumes by itself whose workspace has used up the budget of a day or month. */
function ResumesAt({ period }: { period: Run["exhaustedBudget"] }) {
  const isAwaited = period === "day" || period === "month";
  const budgets = useQuery({ ...budgetsQuery, enabled: isAwaited });
  if (!isAwaited || !budgets.data) return null;
  const endsAt = budgets.data[period].endsAt;
  return (
    <>
      ; it resumes at <time dateTime={endsAt}>{new Date(endsAt).toLocaleString()}</time>, or once the budget
      is raised
    </>
  );
}

type Action = "pause" | "resume" | "cancel" | "retry";

interface Change {
  action: Action;
  /** It is the confirmed expected cost of a retry. */
  confirmedUsd?: number;
}

function actionsOf(run: Run): readonly Action[] {
  if (run.status === "PAUSED") return ["resume", "cancel"];
  if (!isTerminal(run.status) && run.status !== "SUMMARIZING") return ["pause", "cancel"];
  return isTerminal(run.status) && run.status !== "CANCELLED" && run.progress.failed > 0 ? ["retry"] : [];
}

/** Returns the number of errors that a retry can help; undefined until every outcome is counted. */
function useRetryable(run: Run): number | undefined {
  const results = useQuery({ ...resultsQuery(run.id), enabled: actionsOf(run).includes("retry") });
  if (!results.data?.isComplete) return undefined;
  const errors = results.data.columns.flatMap((column) => column.errors);
  return errors.filter((error) => error.retryHelps).reduce((sum, { count }) => sum + count, 0);
}

/** Offers the changes that the status allows; none for a viewer, to whom they would be refused. */
function Controls({ run }: { run: Run }) {
  const session = useQuery(sessionQuery);
  const retryable = useRetryable(run);
  const client = useQueryClient();
  const [isAsking, ask] = useState(false);
  const change = useMutation({
    mutationFn: ({ action, confirmedUsd }: Change) => {
      const path = { params: { path: { run_id: run.id } } };
      if (action === "pause") return read(api.POST("/v1/runs/{run_id}/pause", path));
      if (action === "resume") return read(api.POST("/v1/runs/{run_id}/resume", path));
      if (action === "cancel") return read(api.POST("/v1/runs/{run_id}/cancel", path));
      const body = confirmedUsd === undefined ? {} : { confirmedUsd };
      return read(api.POST("/v1/runs/{run_id}/retry", { ...path, body }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["run", run.id] }),
  });
  if (session.data?.role !== "admin" && session.data?.role !== "member") return null;
  const estimate = change.error instanceof ApiError ? change.error.estimate : null;
  const inFlight = callsInFlightNote(change.data);
  const actions = actionsOf(run).filter((action) => action !== "retry" || retryable !== 0);
  const labels: Record<Action, string> = {
    pause: "Pause",
    resume: "Resume",
    cancel: "Cancel…",
    retry: retryable === undefined ? "Retry errors" : `Retry ${counted(retryable, "error")}`,
  };
  return (
    <>
      {actions.map((action) => (
        <button
          key={action}
          type="button"
          disabled={change.isPending}
          onClick={() => (action === "cancel" ? ask(true) : change.mutate({ action }))}
        >
          {labels[action]}
        </button>
      ))}
      {(run.status === "COMPLETED" || run.status === "FAILED") && run.config.samplePercentage < 100 && (
        <Expand key={run.config.samplePercentage} run={run} />
      )}
      {isAsking && !isTerminal(run.status) && (
        <p className={styles.question} role="alert">
          Cancel for good? Recorded results stay; {formatCount(run.progress.total - run.progress.completed)}{" "}
          conversations will not run.
          <button
            type="button"
            onClick={() => {
              ask(false);
              change.mutate({ action: "cancel" });
            }}
          >
            Cancel the run
          </button>
          <button type="button" onClick={() => ask(false)}>
            Keep running
          </button>
        </p>
      )}
      {estimate && (
        <p className={styles.question} role="alert">
          The retry is expected to cost {formatUsd(estimate.usd.expected)}, more than is left of a budget: the
          run may be paused before its end.
          <button
            type="button"
            onClick={() => change.mutate({ action: "retry", confirmedUsd: estimate.confirmableUsd })}
          >
            Retry anyway
          </button>
          <button type="button" onClick={() => change.reset()}>
            Keep the errors
          </button>
        </p>
      )}
      {(run.status === "PAUSED" || run.status === "CANCELLED") && inFlight && (
        <p className={styles.question} role="status">
          {inFlight}
        </p>
      )}
      {change.isError && !estimate && <Failure error={change.error} what="The run was not changed" />}
    </>
  );
}
