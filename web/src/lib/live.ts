export interface LiveEvent {
  /** It is null for events that are computed and not stored. */
  readonly seq: number | null;
  readonly type: string;
  readonly ts: string;
  readonly data: Readonly<Record<string, unknown>>;
}
export interface Counts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

export interface Live<E extends LiveEvent = LiveEvent> {
  readonly lastSeq: number;
  readonly events: readonly E[];
  readonly progress: Counts | null;
}

export const SILENT: Live<never> = { lastSeq: 0, events: [], progress: null };
const PROGRESS = "run.progress";

/** Adds the events that follow; those that were received before are dropped. */
export function received<E extends LiveEvent>(live: Live<E>, events: readonly E[]): Live<E> {
  let { lastSeq, progress } = live;
  const further: E[] = [];
  for (const event of events) {
    if (event.seq === null)
      progress = event.type === PROGRESS ? (countsOf(event.data) ?? progress) : progress;
    else if (event.seq > lastSeq) {
      lastSeq = event.seq;
      further.push(event);
    }
  }
  const same = progress !== null && live.progress !== null && isSame(progress, live.progress);
  return {
    lastSeq,
    events: further.length > 0 ? [...live.events, ...further] : live.events,
    progress: same ? live.progress : progress,
  };
}

function isSame(one: Counts, other: Counts): boolean {
  return one.total === other.total && one.completed === other.completed && one.failed === other.failed;
}

function countsOf({ total, completed, failed }: Readonly<Record<string, unknown>>): Counts | null {
  return typeof total === "number" && typeof completed === "number" && typeof failed === "number"
    ? { total, completed, failed }
    : null;
}

const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;

/**
 * Returns the wait after so many failures in a row, from 1: it grows, and differs between readers. `random` is from 0
 * to 1.
 */
export function retryWaitMs(failures: number, random: number): number {
  const longest = Math.min(MAX_WAIT_MS, MIN_WAIT_MS * 2 ** failures);
  return Math.round(MIN_WAIT_MS + (longest - MIN_WAIT_MS) * random);
}
