import type { Run } from "../api/types";
import { counted } from "./format";

const TERMINAL = new Set(["COMPLETED", "FAILED", "CANCELLED"]);

export function isTerminal(status: string): boolean {
  return TERMINAL.has(status);
}

/** Explains calls in flight after pause or cancel; null without any, and for other answers. */
export function callsInFlightNote(changed: object | undefined): string | null {
  const calls = changed && "callsInFlight" in changed ? Number(changed.callsInFlight) : 0;
  return calls > 0
    ? `${counted(calls, "call")} in flight will still be recorded; no call begins later than 5 s from now.`
    : null;
}

/** Tells whether the form can have the settings of a run: those of other kinds have forms of their own. */
export function canChangeAndRepeat(run: Pick<Run, "scale" | "playground" | "evalId">): boolean {
  return !run.scale && !run.playground && run.evalId === null;
}
