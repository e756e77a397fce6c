/** Follows a run by its event stream, which says what has changed, so that only that is read again. */

import { type Query, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { parseEventStream } from "../lib/event_stream";
import { type Live, received, retryWaitMs, SILENT } from "../lib/live";
import { ApiError, api, toError } from "./client";
import { isTerminal } from "./queries";
import type { Run, RunEvent } from "./types";
import { mayAsk, onReturn } from "./watching";

const POLL_MS = 2_000;
/** Figures that change with each outcome are not read more often. */
const READ_AGAIN_MS = 4_000;
/** Values that change without events, such as delays and spend, are read at least as often. */
const READ_ANYWAY_MS = 10_000;
const NO_CONTENT = 204;
const UNAUTHORIZED = 401;
const NOT_FOUND = 404;

export interface Following {
  readonly events: readonly RunEvent[];
  readonly lost: { readonly since: number; readonly nextTry: number } | null;
}
const NOTHING: Following = { events: [], lost: null };

/**
 * Refreshes a run's queries while it goes on and the page is visible. A run that is over is read once when the page
 * becomes visible again: it may have been expanded or retried elsewhere.
 */
export function useFollowing(run: Run | undefined): Following {
  const client = useQueryClient();
  const [following, set] = useState(NOTHING);
  const id = run?.id;
  const isOver = run === undefined || isTerminal(run.status);
  const followed = useRef<string>(undefined);
  useEffect(() => {
    set(NOTHING);
    // The last read was before its end.
    if (isOver && id !== undefined && followed.current === id)
      void client.invalidateQueries({ queryKey: ["run", id] });
    followed.current = isOver ? undefined : id;
    if (id === undefined) return;
    if (isOver) return onReturn(() => readReopened(id, client));
    const stop = new AbortController();
    follow(id, client, stop.signal, set).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    return () => stop.abort();
  }, [id, isOver, client]);
  return following;
}

/** Follows a run that goes on again, and reads all of it again if it has ended anew meanwhile. */
async function readReopened(id: string, client: QueryClient): Promise<void> {
  const queryKey = ["run", id];
  const before = client.getQueryData<Run>(queryKey);
  // A failure is shown with the run.
  await client.refetchQueries({ queryKey, exact: true }).catch(() => undefined);
  const run = client.getQueryData<Run>(queryKey);
  if (run && isTerminal(run.status) && run.updatedAt !== before?.updatedAt)
    await client.invalidateQueries({ queryKey, predicate: (each) => each.queryKey.length > queryKey.length });
}

async function follow(
  id: string,
  client: QueryClient,
  signal: AbortSignal,
  set: (following: Following) => void,
): Promise<void> {
  let live: Live<RunEvent> = SILENT;
  let failures = 0;
  let since = 0;
  let waitMs = 0;
  for (;;) {
    await mayAsk(waitMs, signal);
    waitMs = POLL_MS;
    try {
      const answer = await readEvents(id, live.lastSeq, signal);
      if (answer === null) break;
      const next = received(live, answer);
      if (failures > 0 || next.events !== live.events) set({ events: next.events, lost: null });
      const before = live;
      live = next;
      await apply(id, client, before, next);
      failures = 0;
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError)) throw error;
      if (error.status === NOT_FOUND) break;
      failures += 1;
      // The session has ended, so this request asks for another one.
      if (error.status === UNAUTHORIZED && failures === 1)
        await client.refetchQueries({ queryKey: ["run", id], exact: true });
      if (failures === 1) since = Date.now();
      waitMs = Math.max(retryWaitMs(failures, Math.random()), 1_000 * (error.retryAfterSeconds ?? 0));
      set({ events: live.events, lost: { since, nextTry: Date.now() + waitMs } });
      continue;
    }
    const due = oldest(id, client);
    if (due !== undefined) {
      await mayAsk(0, signal);
      // A failure is shown where the figures are.
      await client.refetchQueries({ queryKey: due.queryKey, exact: true }).catch(() => undefined);
      waitMs = POLL_MS / 2;
    }
  }
  // It is over or deleted: its queries say which.
  await client.invalidateQueries({ queryKey: ["run", id] });
}

/** Reads the events after a number; returns null once the run is over and all have been read. */
async function readEvents(id: string, after: number, signal: AbortSignal): Promise<RunEvent[] | null> {
  const { data, error, response } = await api.GET("/v1/runs/{run_id}/events", {
    signal,
    params: { path: { run_id: id }, header: { "Last-Event-ID": after } },
    headers: { Accept: "text/event-stream" },
    parseAs: "text",
  });
  if (response.status === NO_CONTENT) return null;
  if (!response.ok) throw toError(response, error);
  return parseEventStream(String(data)).map((each) => JSON.parse(each.data) as RunEvent);
}

/** Applies the events at once; data that they do not contain is read again, in its turn. */
async function apply(
  id: string,
  client: QueryClient,
  before: Live<RunEvent>,
  now: Live<RunEvent>,
): Promise<void> {
  const { progress } = now;
  if (now.events !== before.events) {
    client.setQueryData<RunEvent[]>(["run", id, "events"], (old) => old && [...now.events]);
    await invalidate(client, ["run", id]);
  }
  if (progress !== null && progress !== before.progress) {
    const updatedAt = client.getQueryState(["run", id])?.dataUpdatedAt;
    const isInvalidated = client.getQueryState(["run", id])?.isInvalidated;
    client.setQueryData<Run>(
      ["run", id],
      (run) => run && { ...run, progress },
      updatedAt ? { updatedAt } : {},
    );
    if (isInvalidated) await invalidate(client, ["run", id]);
    for (const part of PARTS) await invalidate(client, ["run", id, part]);
  }
}

/** Marks data as stale without reading it at once. */
function invalidate(client: QueryClient, queryKey: string[]): Promise<void> {
  return client.invalidateQueries({ queryKey, exact: true, refetchType: "none" });
}

const PARTS = ["progress", "results"] as const;

/**
 * Returns the visible query that was read longest ago, but the run first if an event has changed it; undefined if all
 * are new.
 */
function oldest(id: string, client: QueryClient): Query | undefined {
  const now = Date.now();
  const isChangedRun = (query: Query) => query.state.isInvalidated && query.queryKey.length === 2;
  const keys = [["run", id], ...PARTS.map((part) => ["run", id, part])];
  return keys
    .map((queryKey) => client.getQueryCache().find({ queryKey, exact: true }))
    .filter((query) => query !== undefined)
    .filter((query) => query.isActive() && query.state.fetchStatus === "idle")
    .filter(({ state, queryKey }) => {
      const maxAge = state.isInvalidated ? (queryKey.length === 2 ? 0 : READ_AGAIN_MS) : READ_ANYWAY_MS;
      return now - state.dataUpdatedAt >= maxAge;
    })
    .sort(
      (one, other) =>
        Number(isChangedRun(other)) - Number(isChangedRun(one)) ||
        one.state.dataUpdatedAt - other.state.dataUpdatedAt,
    )[0];
}
