/** Reads turns of chats: the progress of one that goes on, and the steps of one that is over. */

export const PHASES = [
  "planning",
  "before_main_llm",
  "barrier",
  "main_llm",
  "after_main_llm",
  "commit",
  "finished",
] as const;
export type Phase = (typeof PHASES)[number];
export type Hook = "before_main_llm" | "after_main_llm";

export interface Step {
  readonly id: string;
  readonly hook: Hook;
  readonly name: string;
  readonly status: string;
  /** It says why the step was skipped, or what went wrong. */
  readonly note: string | null;
  readonly durationMs: number | null;
  /** It has the result as text; null for none, and while the turn goes on. */
  readonly value: string | null;
}

/** Has the text of the main call so far, which is no message until the turn is over. */
export interface Draft {
  readonly attempt: number;
  /** It is in characters as the API counts them, which are not JavaScript's. */
  readonly length: number;
  readonly text: string;
}

export interface TurnProgress {
  readonly lastSeq: number;
  readonly isOver: boolean;
  readonly phase: Phase;
  readonly steps: readonly Step[];
  readonly draft: Draft;
  /** The progress is read again after this time. */
  readonly pauseMs: number;
}

const NOTHING: Draft = { attempt: 0, length: 0, text: "" };
export const BEGIN: TurnProgress = {
  lastSeq: 0,
  isOver: false,
  phase: "planning",
  steps: [],
  draft: NOTHING,
  pauseMs: 0,
};
const OVER = new Set(["done", "failed", "aborted"]);

interface Event {
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}
interface Piece {
  readonly attempt: number;
  readonly offset: number;
  readonly text: string;
}
interface Events {
  readonly items: readonly Event[];
  readonly text: Piece | null;
  readonly status: string;
  readonly phase: Phase;
}

/** Adds the events that follow; those that were read before are ignored. */
export function advance(progress: TurnProgress, events: Events, pauseMs = 0): TurnProgress {
  const further = events.items.filter((event) => event.seq > progress.lastSeq);
  const draft = extended(progress.draft, events.text);
  const read = { ...further.reduce(apply, progress), draft, phase: events.phase, pauseMs };
  // The status is read before the events, so none is missed once the turn is over.
  return { ...read, isOver: OVER.has(events.status) };
}

/** Ignores a piece that was read before; a later attempt voids the text of earlier ones. */
function extended(draft: Draft, piece: Piece | null): Draft {
  if (piece === null || piece.attempt < draft.attempt) return draft;
  const before = piece.attempt > draft.attempt ? NOTHING : draft;
  if (piece.offset > before.length) return draft;
  const fresh = [...piece.text].slice(before.length - piece.offset);
  return {
    attempt: piece.attempt,
    length: before.length + fresh.length,
    text: before.text + fresh.join(""),
  };
}

/** Only this function knows the contents of the types of events. */
function apply(progress: TurnProgress, event: Event): TurnProgress {
  const next = { ...progress, lastSeq: event.seq };
  if (event.type !== "operation.started" && event.type !== "operation.finished") return next;
  const isRunning = event.type === "operation.started";
  const step = stepOf({ ...event.data, name: event.data["operationName"] }, isRunning ? "running" : "done");
  const isSame = (each: Step) => each.id === step.id && each.hook === step.hook;
  const known = progress.steps.some(isSame);
  return {
    ...next,
    steps: known ? progress.steps.map((each) => (isSame(each) ? step : each)) : [...progress.steps, step],
  };
}

/** Returns the operations of a turn that is over, in the order of its phases. */
export function stepsOf(records: readonly Readonly<Record<string, unknown>>[]): Step[] {
  return records.map((record) => stepOf(record, "done"));
}

function stepOf(record: Readonly<Record<string, unknown>>, status: string): Step {
  const id = textOf(record["operationId"]) ?? "";
  const error = record["error"] as { code?: unknown; message?: unknown } | null | undefined;
  const duration = record["durationMs"];
  return {
    id,
    hook: record["hook"] === "after_main_llm" ? "after_main_llm" : "before_main_llm",
    name: textOf(record["name"]) ?? id,
    status: textOf(record["status"]) ?? status,
    note: error
      ? [error.code, error.message].map(textOf).filter(Boolean).join(": ")
      : (textOf(record["skippedReason"])?.replaceAll("_", " ") ?? null),
    durationMs: typeof duration === "number" ? duration : null,
    value: asValue(record["value"]),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Formats a value of an operation or artifact: texts as they are, others as JSON. */
export function asValue(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

export interface MainCall {
  readonly wasMade: boolean;
  readonly finishReason: string | null;
  readonly durationMs: number | null;
  readonly costUsd: number | null;
  readonly tokens: number | null;
}

export function mainCallOf(main: Readonly<Record<string, unknown>>): MainCall {
  const usage = main["usage"] as Readonly<Record<string, unknown>> | null | undefined;
  const number = (value: unknown) => (typeof value === "number" ? value : null);
  const [input, output] = [number(usage?.["inputTokens"]), number(usage?.["outputTokens"])];
  return {
    wasMade: main["performed"] === true,
    finishReason: textOf(main["finishReason"])?.replaceAll("_", " ") ?? null,
    durationMs: number(main["durationMs"]),
    costUsd: number(main["costUsd"]),
    tokens: input === null || output === null ? null : input + output,
  };
}
