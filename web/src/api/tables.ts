import { type QueryClient, queryOptions, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import {
  addBlock,
  BLOCK,
  emptyTable,
  loadedBlocks,
  type ProbeTable,
  type Shape,
  unsettledBlocks,
} from "../lib/probe_table";
import { api, read } from "./client";
import { onProbeChange } from "./probe_changes";
import { firstBlockQuery, readBlock } from "./probes";
import { isTerminal } from "./queries";
import type { CaseName, CaseText, Excerpt, Run, Schemas } from "./types";
import { mayAsk } from "./watching";

const AT_A_TIME = 6;
const WATCH_MS = 5_000;
const DRAW_MS = 200;
export const CASES_PER_READ = 1_000;
const TEXTS_PER_READ = 100;
export const EXCERPTS_PER_READ = 100;

export function shapeOf(run: Run): Shape {
  const prompts = Math.max(1, run.config.promptIds.length);
  return {
    total: run.progress.total,
    columns: run.config.targets.length * prompts,
    repeats: run.config.repeats,
  };
}

export interface LoadedTable {
  readonly table: ProbeTable;
  readonly version: number;
  readonly loaded: number;
  readonly blocks: number;
  readonly error: unknown;
  readonly retry: () => void;
}

/** Loads the figures of all probes, block by block, and those of a run that goes on again every few seconds. */
export function useProbeTable(run: Run, isWanted = true): LoadedTable {
  const { total, columns, repeats } = shapeOf(run);
  const table = useMemo(() => emptyTable({ total, columns, repeats }), [total, columns, repeats]);
  const isOver = isTerminal(run.status);
  const client = useQueryClient();
  const [version, draw] = useState(0);
  const [attempt, setAttempt] = useState(0);
  const [error, setError] = useState<unknown>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt, or another end, loads again what is open
  useEffect(() => {
    if (!isWanted) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isFirst = true;
    const redraw = () => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          draw((old) => old + 1);
        },
        isFirst ? 0 : DRAW_MS,
      );
      isFirst = false;
    };
    setError(null);
    draw((old) => old + 1);
    const fail = (reason: unknown) => {
      if (!stop.signal.aborted) setError(reason);
    };
    load(client, run.id, table, isOver, stop.signal, redraw).catch(fail);
    const readAgain = async (block: number) => {
      addBlock(table, await readBlock(run.id, block, stop.signal));
      redraw();
    };
    const forget = onProbeChange((id, index) => {
      if (id === run.id) readAgain(Math.floor(index / BLOCK)).catch(fail);
    });
    return () => {
      forget();
      stop.abort();
      clearTimeout(timer);
    };
  }, [client, run.id, run.completedAt, table, isOver, attempt, isWanted]);
  return {
    table,
    version,
    loaded: loadedBlocks(table),
    blocks: table.loaded.length,
    error,
    retry: () => setAttempt((old) => old + 1),
  };
}

/** Loads all blocks, a few at a time, and then changed ones, one at a time; `loaded` is called after each. */
async function load(
  client: QueryClient,
  id: string,
  table: ProbeTable,
  isOver: boolean,
  signal: AbortSignal,
  loaded: () => void,
): Promise<void> {
  const next = async (blocks: number[]) => {
    const block = blocks.shift();
    if (block === undefined) return;
    addBlock(table, await (block === 0 ? takeFirstBlock(client, id) : readBlock(id, block, signal)));
    loaded();
  };
  const wanted = unsettledBlocks(table);
  const worker = async () => {
    while (wanted.length > 0 && !signal.aborted) await next(wanted);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  while (!isOver) {
    await mayAsk(WATCH_MS, signal);
    const changing = unsettledBlocks(table);
    while (changing.length > 0) {
      await next(changing);
      if (changing.length > 0) await mayAsk(0, signal);
    }
  }
}

/** Returns the block that the route has requested, or reads it now. */
async function takeFirstBlock(client: QueryClient, id: string) {
  const query = firstBlockQuery(id);
  try {
    return await client.fetchQuery(query);
  } finally {
    client.removeQueries({ queryKey: query.queryKey });
  }
}

const namesQuery = (id: string, part: number) =>
  queryOptions({
    queryKey: ["run", id, "case-names", part],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/runs/{run_id}/case-names", {
          signal,
          params: { path: { run_id: id }, query: { first: part * CASES_PER_READ } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Returns the names of these cases by index, as far as they are loaded. */
export function useCaseNames(id: string, cases: readonly number[]): ReadonlyMap<number, CaseName> {
  const parts = [...new Set(cases.map((each) => Math.floor(each / CASES_PER_READ)))];
  return useQueries({
    queries: parts.map((part) => namesQuery(id, part)),
    combine: (results) =>
      new Map(results.flatMap((result) => result.data?.items ?? []).map((each) => [each.index, each])),
  });
}

/** Loads the names of all cases only on request: a filter by text needs them. */
export function useAllCaseNames(id: string, cases: number, isWanted: boolean) {
  return useQuery({
    queryKey: ["run", id, "case-names", "all", cases],
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ client }: { client: QueryClient }): Promise<CaseName[]> =>
      readParts(cases, (part) => client.fetchQuery(namesQuery(id, part))),
  });
}

/** Reads all parts of a list of cases, a few at a time. */
async function readParts<T>(
  cases: number,
  readPart: (part: number) => Promise<{ items: T[] }>,
): Promise<T[]> {
  const parts = Array.from({ length: Math.ceil(cases / CASES_PER_READ) }, (_, part) => part);
  const items: T[] = [];
  for (let first = 0; first < parts.length; first += AT_A_TIME) {
    const pages = await Promise.all(parts.slice(first, first + AT_A_TIME).map(readPart));
    items.push(...pages.flatMap((page) => page.items));
  }
  return items;
}

const textsQuery = (id: string, first: number, limit: number) =>
  queryOptions({
    queryKey: ["run", id, "case-texts", first, limit],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/runs/{run_id}/case-texts", {
          signal,
          params: { path: { run_id: id }, query: { first, limit } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Returns the texts of these cases by index, as far as they are loaded. */
export function useCaseTexts(id: string, cases: readonly number[]): ReadonlyMap<number, CaseText> {
  const parts = [...new Set(cases.map((each) => Math.floor(each / TEXTS_PER_READ)))];
  return useQueries({
    queries: parts.map((part) => textsQuery(id, part * TEXTS_PER_READ, TEXTS_PER_READ)),
    combine: (results) =>
      new Map(results.flatMap((result) => result.data?.items ?? []).map((each) => [each.index, each])),
  });
}

/** Loads the texts of all cases only on request: a filter by words or by a variable needs them. */
export function useAllCaseTexts(id: string, cases: number, isWanted: boolean) {
  return useQuery({
    queryKey: ["run", id, "case-texts", "all", cases],
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ client }: { client: QueryClient }): Promise<CaseText[]> =>
      readParts(cases, (part) => client.fetchQuery(textsQuery(id, part * CASES_PER_READ, CASES_PER_READ))),
  });
}

/** Returns excerpts by index, as far as they are loaded; each group of up to a hundred probes is one request. */
export function useExcerpts(
  id: string,
  groups: readonly (readonly number[])[],
  characters: number,
  isFinal: boolean,
): ReadonlyMap<number, Excerpt> {
  return useQueries({
    queries: groups.map((group) => ({
      queryKey: ["run", id, "excerpts", characters, group],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        read(
          api.GET("/v1/runs/{run_id}/probe-excerpts", {
            signal,
            params: { path: { run_id: id }, query: { indexes: [...group], characters } },
          }),
        ),
      staleTime: isFinal ? Number.POSITIVE_INFINITY : 10_000,
    })),
    combine: (results) =>
      new Map(results.flatMap((result) => result.data?.items ?? []).map((each) => [each.index, each])),
  });
}

export interface MessageSearch {
  /** It has the probes found so far, or null without a search. */
  readonly found: ReadonlySet<number> | null;
  /** It counts the probes that were read; the search continues while it is below the total. */
  readonly read: number;
  readonly isRunning: boolean;
  readonly error: unknown;
  readonly stop: () => void;
}

/** Finds the probes whose messages have all of these words. The API reads some of the messages with each request. */
export function useMessageSearch(run: Run, words: string | undefined): MessageSearch {
  const total = run.progress.total;
  const [state, setState] = useState(() => searchState(words));
  const running = useRef<AbortController>(null);
  useEffect(() => {
    setState(searchState(words));
    if (words === undefined) return;
    const stop = new AbortController();
    running.current = stop;
    const search = async () => {
      const found = new Set<number>();
      for (let first: number | null = 0; first !== null; ) {
        const page: Schemas["ProbeMatches"] = await readMatches(run.id, words, first, stop.signal);
        stop.signal.throwIfAborted();
        for (const each of page.indexes) found.add(each);
        first = page.nextIndex;
        setState({ found: new Set(found), read: first ?? total, error: null, isStopped: false });
      }
    };
    search().catch((error: unknown) => {
      if (!stop.signal.aborted) setState((old) => ({ ...old, error, isStopped: true }));
    });
    return () => stop.abort();
  }, [run.id, words, total]);
  const stop = () => {
    running.current?.abort();
    setState((old) => ({ ...old, isStopped: true }));
  };
  const { found, read, error, isStopped } = state;
  return { found, read, error, isRunning: found !== null && read < total && !isStopped, stop };
}

function searchState(words: string | undefined) {
  const found: ReadonlySet<number> | null = words === undefined ? null : new Set();
  return { found, read: 0, error: null as unknown, isStopped: false };
}

function readMatches(id: string, q: string, first: number, signal: AbortSignal) {
  return read(
    api.GET("/v1/runs/{run_id}/probe-matches", {
      signal,
      params: { path: { run_id: id }, query: { q, first } },
    }),
  );
}

export const transcriptQuery = (id: string, index: number) =>
  queryOptions({
    queryKey: ["run", id, "transcript", index],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/transcripts/{transcript_id}", {
          signal,
          params: { path: { transcript_id: `${id}-${index}` } },
        }),
      ),
    staleTime: 60_000,
  });
