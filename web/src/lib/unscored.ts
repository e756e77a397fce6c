import type { Schemas } from "../api/types";

type Code = Schemas["UnscoredCode"];

interface Cause {
  readonly code: Code;
  readonly model: string | null;
  readonly providerCode: string | null;
}

const ANOTHER_JUDGE = "Rescore the run with another judge.";
const CORRECT_THE_ASSERTION = "Correct the assertion, and rescore the run with it.";

const HELP: Readonly<Record<Code, string>> = {
  judge_reply: `The judge gave no usable reply. ${ANOTHER_JUDGE}`,
  judge_refused: `The judge, or its provider's filter, declined. ${ANOTHER_JUDGE}`,
  judge_failed: "The judge's call failed. Rescore the run once the judge can be called, or with another one.",
  no_judge: "No model is configured that the check needs. Rescore the run with one.",
  budget: "The budget was used up. Rescore the run with a budget of its own.",
  evaluator: "Repair the external evaluator or webhook, and rescore the run.",
  input: "The answer or the scenario lacks what the check needs.",
  assertion: CORRECT_THE_ASSERTION,
  code: "The code could not be run to its end; it runs only where its author evaluates.",
  limit: `The check takes too much time or memory. ${CORRECT_THE_ASSERTION}`,
  deleted: "The conversation was deleted before it was graded.",
};

/** Returns `judge_failed (auth) of openai/gpt-6.1-terra`. */
export function causeOf({ code, model, providerCode }: Cause): string {
  return `${code}${providerCode ? ` (${providerCode})` : ""}${model ? ` of ${model}` : ""}`;
}

export function helpOfUnscored(code: Code): string {
  return HELP[code];
}
