import { counted, formatInterval, formatPointsApart, formatUsd } from "./format";

/** They limit a summarizer's input and output; a unit test compares them with the code of reports. */
export const SUMMARY_INPUT_TOKENS = 24_000;
export const SUMMARY_OUTPUT_TOKENS = 2_000;

export interface Priced {
  readonly simulated: boolean;
  readonly inputUsdPerMillion: number | null;
  readonly outputUsdPerMillion: number | null;
}

/** Returns the maximum cost of a call for a summary in USD; null if the price is unknown. */
export function summaryUsd(model: Priced): number | null {
  if (model.inputUsdPerMillion === null || model.outputUsdPerMillion === null)
    return model.simulated ? 0 : null;
  const input = SUMMARY_INPUT_TOKENS * model.inputUsdPerMillion;
  return (input + SUMMARY_OUTPUT_TOKENS * model.outputUsdPerMillion) / 1_000_000;
}

export function summaryCostText(usd: number | null): string {
  if (usd === null) return "The price of this model is unknown.";
  if (usd === 0) return "It costs nothing.";
  return `One call, about ${formatUsd(usd)} at most; a second one if its answer has to be repaired.`;
}

/** Names models whose calls are not in the cost of a run, with their number of calls where it is known. */
export function unpricedText(
  models: readonly {
    readonly model: string;
    readonly roles: readonly string[];
    readonly calls: number | null;
  }[],
): string {
  return models
    .map(({ model, roles, calls }) => {
      const known = calls === null ? roles : [...roles, counted(calls, "call")];
      return `${model} (${known.join(", ")})`;
    })
    .join("; ");
}

/** Returns the index of the probe that a transcript's id names; undefined for another id. */
export function probeIndex(transcriptId: string): number | undefined {
  const match = /-(\d{1,7})$/.exec(transcriptId);
  return match ? Number(match[1]) : undefined;
}

export function systemPrompt(snapshot: Readonly<Record<string, unknown>> | null): string | null {
  const system = snapshot?.["system"];
  return typeof system === "string" ? system : null;
}

/** Describes the size, the power and the cost of a trial. */
export function trialPlanText(plan: {
  readonly scenarios: number;
  readonly detectableDifference: number;
  readonly estimate: {
    readonly jobCount: number;
    readonly usd: { readonly low: number; readonly high: number };
  };
}): string {
  const { jobCount, usd } = plan.estimate;
  const size = `${counted(jobCount, "conversation")} about ${counted(plan.scenarios, "scenario")}`;
  const cost = formatInterval([usd.low, usd.high], formatUsd);
  const apart = formatPointsApart(plan.detectableDifference);
  return `${size}, for ${cost}. It finds a difference of ${apart} with a chance of 80%.`;
}
