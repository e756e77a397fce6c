import type { Schemas } from "../api/types";

type Delay = Schemas["Delay"];

const BUDGETS = {
  run: "the run's budget",
  day: "the workspace's budget for the day",
  month: "the workspace's budget for the month",
};

function ownLimits({ limit, staggerMs }: Delay): string {
  const parallel =
    limit === null ? [] : [`${limit} ${limit === 1 ? "conversation" : "conversations"} at a time`];
  const gap = staggerMs === null ? [] : [`${staggerMs.join(" to ")} ms between two starts`];
  return [...parallel, ...gap].join(", ");
}

/** Splits what delays a run into what is true of all of it, each once, and what is true of each target. */
export function splitDelays<T extends { readonly delays: readonly Delay[] }>(targets: readonly T[]) {
  const ofRun = (each: Delay) => each.reason === "run_paused";
  const [first] = targets.flatMap((target) => target.delays.filter(ofRun));
  const ofTargets = targets.map((target) => ({
    target,
    delays: target.delays.filter((each) => !ofRun(each)),
  }));
  return { ofRun: first, ofTargets };
}

/** `time` writes when calls may start again. */
export function delayText(delay: Delay, time: (until: string) => string): string {
  const { provider, model, message, limit, learnedLimit, takenSlots } = delay;
  const until = delay.until === null ? "" : ` until ${time(delay.until)}`;
  const why = message === null ? "" : `: ${message}`;
  switch (delay.reason) {
    case "throttled":
      return `${provider ?? "the provider"} throttles${until}${why}`;
    case "learned_limit":
      return `${provider ?? "the provider"} sustains ${learnedLimit ?? "fewer"}${limit === null ? "" : ` of ${limit}`} parallel requests`;
    case "higher_priority":
      return `work of higher priority takes ${takenSlots ?? "some"}${limit === null ? "" : ` of ${limit}`} parallel requests to ${provider ?? "the provider"}`;
    case "chat_reservation":
      return `${takenSlots ?? "some"}${limit === null ? "" : ` of ${limit}`} parallel requests to ${provider ?? "the provider"} are reserved for chats`;
    case "run_limit":
      return `the run limits itself: ${ownLimits(delay)}`;
    case "budget":
      return `${BUDGETS[delay.budget ?? "run"]} has too little left for the next call: the rest is reserved for others`;
    case "model_suspended":
      return `${model ?? "a model"} is suspended${until}${why}`;
    case "queue_paused":
      return `the queue of ${provider ?? "the provider"} is paused${until}`;
    case "run_paused":
      return `the run is paused${until}${why}`;
  }
}
