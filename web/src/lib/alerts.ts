/** Describes events of a run that its readers should know at once, in words. */
import type { LiveEvent } from "./live";

export interface Alert {
  readonly seq: number;
  readonly ts: string;
  readonly text: string;
}

const PAUSES: Readonly<Record<string, string>> = {
  budget: "paused: a budget is used up",
  provider: "paused: a provider refuses its calls",
  judge: "paused: its judge gives no usable verdict",
};

const WORDS: Readonly<Record<string, (data: Readonly<Record<string, unknown>>) => string | null>> = {
  "run.paused": ({ pauseReason }) => own(PAUSES, pauseReason) ?? "paused by request",
  "run.resumed": () => "resumed",
  "run.reopened": () => "reopened: its errors are retried, or its sample is expanded",
  "run.budget": ({ percent, scope }) =>
    typeof percent === "number"
      ? `${percent}% of the ${own(PERIODS, scope) ?? "budget"} ${percent >= 100 ? "is used up" : "is used"}`
      : null,
  "run.recovered": () => "interrupted work was resumed",
};
const PERIODS: Readonly<Record<string, string>> = {
  day: "workspace's budget of the day",
  month: "workspace's budget of the month",
};

function own(words: Readonly<Record<string, string>>, name: unknown): string | undefined {
  return typeof name === "string" && Object.hasOwn(words, name) ? words[name] : undefined;
}

export function alertsOf(events: readonly LiveEvent[], most: number): Alert[] {
  return events
    .flatMap(({ seq, ts, type, data }) => {
      const text = Object.hasOwn(WORDS, type) ? (WORDS[type]?.(data) ?? null) : null;
      return seq === null || text === null ? [] : [{ seq, ts, text }];
    })
    .toReversed()
    .slice(0, most);
}
