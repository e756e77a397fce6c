/** What holds up the probes of a target, in words. */
import type { Schemas } from "../api/client";

type Delay = Schemas["Delay"];

/** `time` writes when calls may start again. A learned limit slows calls down, every other reason stops them. */
export function delayText(delay: Delay, time: (until: string) => string): string {
  const { provider, model, message, limit, learnedLimit } = delay;
  const until = delay.until === null ? "" : ` until ${time(delay.until)}`;
  const why = message === null ? "" : `: ${message}`;
  switch (delay.reason) {
    case "throttled":
      return `${provider ?? "the provider"} throttles${until}${why}`;
    case "learned_limit":
      return `${provider ?? "the provider"} sustains ${learnedLimit ?? "fewer"}${limit === null ? "" : ` of ${limit}`} parallel requests`;
    case "model_suspended":
      return `${model ?? "a model"} is suspended${until}${why}`;
    case "queue_paused":
      return `the queue of ${provider ?? "the provider"} is paused${until}`;
    case "run_paused":
      return `the run is paused${until}${why}`;
  }
}
