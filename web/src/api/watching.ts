/** The pace of what a screen asks for by itself: at most one thing a second, and nothing while it is hidden. */
import { Pace } from "../lib/pace";

const pace = new Pace(1_000);
const CHECK_MS = 1_000;

/** After so long, once the page is visible and no other request of a watching screen began within a second. */
export async function mayAsk(afterMs: number, signal: AbortSignal): Promise<void> {
  await wait(afterMs, signal);
  while (document.visibilityState !== "visible") await visible(signal);
  const delay = pace.take();
  if (delay > 0) await wait(delay, signal);
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

/** The next time that the page may have become visible. */
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
