import {
  csvColumns,
  csvHeader,
  csvRow,
  type ExportFormat,
  jsonLine,
  mergedOutcomes,
  type Outcome,
} from "../lib/run_export";
import { api, read } from "./client";
import type { Page } from "./lists";
import type { Run, Schemas } from "./types";

const TRANSCRIPTS = 500;
const LISTED = 100;

async function* pages<T>(readPage: (cursor: string | undefined) => Promise<Page<T>>): AsyncGenerator<T> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Page<T> = await readPage(cursor);
    yield* page.items;
    cursor = page.nextCursor;
  }
}

async function* none<T>(): AsyncGenerator<T> {}

/** Yields the outcomes of a run by probe index: transcripts, and the probes that ended in an error. */
function outcomesOf({ id, progress }: Run, signal: AbortSignal): AsyncGenerator<Outcome> {
  const path = { run_id: id };
  const after = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });
  return mergedOutcomes({
    transcripts: pages<Outcome>((cursor) =>
      read(
        api.GET("/v1/runs/{run_id}/transcripts", {
          signal,
          params: { path, query: { limit: TRANSCRIPTS, ...after(cursor) } },
        }),
      ),
    ),
    errored:
      progress.failed === 0
        ? none()
        : pages<Outcome>((cursor) =>
            read(
              api.GET("/v1/runs/{run_id}/probes", {
                signal,
                params: { path, query: { status: "ERROR", limit: LISTED, ...after(cursor) } },
              }),
            ),
          ),
    labels: pages<Schemas["Label"]>((cursor) =>
      read(
        api.GET("/v1/runs/{run_id}/labels", {
          signal,
          params: { path, query: { limit: LISTED, ...after(cursor) } },
        }),
      ),
    ),
  });
}

/** Returns the file of a run's conversations, and tells after each how many were read. */
export async function exportedFile(
  run: Run,
  format: ExportFormat,
  signal: AbortSignal,
  count: (conversations: number) => void,
): Promise<Blob> {
  const columns = csvColumns(run);
  const parts = format === "csv" ? [csvHeader(columns)] : [];
  let written = 0;
  for await (const outcome of outcomesOf(run, signal)) {
    parts.push(format === "csv" ? csvRow(outcome, columns) : jsonLine(outcome));
    written += 1;
    count(written);
  }
  return new Blob(parts, { type: format === "csv" ? "text/csv" : "application/jsonl" });
}
