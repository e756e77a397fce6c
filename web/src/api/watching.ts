/** Limits the requests that a screen sends by itself to one a second, and to none while it is hidden. */
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Pace } from "../lib/pace";

const pace = new Pace(1_000);
const CHECK_MS = 1_000;

/** Waits so long, until the page is visible and no other request of a watching screen began within a second. */
export async function mayAsk(afterMs: number, signal: AbortSignal): Promise<void> {
  await wait(afterMs, signal);
  while (document.visibilityState !== "visible") await visible(signal);
  const delay = pace.take();
  if (delay > 0) await wait(delay, signal);
}

/** Asks once whenever the page becomes visible again or gets the focus, which often come together. */
export function onReturn(ask: () => Promise<unknown>): () => void {
  const stop = new AbortController();
  let before = Number.NEGATIVE_INFINITY;
  const come = () => {
    const now = performance.now();
    if (document.visibilityState !== "visible" || now - before < CHECK_MS) return;
    before = now;
    mayAsk(0, stop.signal)
      .then(ask)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) throw error;
      });
  };
  document.addEventListener("visibilitychange", come, { signal: stop.signal });
  window.addEventListener("focus", come, { signal: stop.signal });
  return () => stop.abort();
}

/** Reads these queries again one after the other. */
export function useReadAgain(keys: readonly QueryKey[], everyMs = 2_000): void {
  const client = useQueryClient();
  const given = JSON.stringify(keys);
  useEffect(() => {
    const wanted = JSON.parse(given) as QueryKey[];
    const stop = new AbortController();
    const read = async () => {
      while (wanted.length > 0) {
        for (const queryKey of wanted) {
          await mayAsk(everyMs, stop.signal);
          // A failure is shown where the figures are.
          await client.refetchQueries({ queryKey, exact: true }).catch(() => undefined);
        }
      }
    };
    read().catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    return () => stop.abort();
  }, [given, everyMs, client]);
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      signal.removeEventListener("abort", abort);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

/** Resolves the next time that the page may have become visible. */
async function visible(signal: AbortSignal): Promise<void> {
  const shown = new AbortController();
  const show = () => shown.abort();
  document.addEventListener("visibilitychange", show);
  try {
    await wait(CHECK_MS, AbortSignal.any([signal, shown.signal]));
  } catch {
    signal.throwIfAborted();
  } finally {
    document.removeEventListener("visibilitychange", show);
  }
}
