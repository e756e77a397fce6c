/** Chooses what is said about the grades of a conversation, so that each reason is there once. */
import type { Message, Schemas } from "../api/types";

type Scoring = Schemas["Scoring"];
export type Check = Scoring["results"][number];
type Graded = Pick<Schemas["Transcript"], "scoring" | "verdict" | "decisionText">;

/** The check that stands for the judge's verdict on the criteria; its reason is the judge's. */
const CRITERIA = "criteria";

export interface GradeLines {
  /** Failed checks come first, then those that could not be computed. */
  readonly open: readonly Check[];
  /** They are passed checks, which are folded where others are open. */
  readonly passed: readonly Check[];
  /** It is null if the checks say the same. */
  readonly reason: string | null;
  readonly decisionText: string | null;
  readonly hasCriteria: boolean;
}

export function gradeLines({ scoring, decisionText }: Graded): GradeLines {
  const checks = scoring?.results ?? [];
  const of = (passed: boolean | null) => checks.filter((each) => each.passed === passed);
  const isSaidByChecks = checks.some((each) => each.weight > 0);
  const isSaid = (text: string) => checks.some((each) => (each.error ?? each.reason).includes(text));
  return {
    open: [...of(false), ...of(null)],
    passed: of(true),
    reason: isSaidByChecks ? null : scoring?.reason || null,
    decisionText: decisionText !== null && isSaid(decisionText) ? null : decisionText,
    hasCriteria: checks.some(isCriteria),
  };
}

export function isCriteria({ type }: Pick<Check, "type">): boolean {
  return type === CRITERIA;
}

/** Returns the messages without the judge's reason after the last answer where the check of the criteria has it. */
export function withoutLastReason(messages: readonly Message[], { scoring }: Graded): readonly Message[] {
  const said = scoring?.results.find(isCriteria)?.reason;
  const last = messages.findLastIndex((each) => each.reply?.verdict);
  return messages.map((message, at) => {
    const { reply } = message;
    if (at !== last || !reply?.verdict || reply.verdict.reasoning !== said) return message;
    return { ...message, reply: { ...reply, verdict: { ...reply.verdict, reasoning: "" } } };
  });
}
