/** Fills the form of a new run with the settings of a run, so that it can be repeated with changes. */
import type { Run, RunInput } from "../api/types";
import { NO_OPTIONS, type RunOptions } from "./run_options";
import { haveFields, targetInputs } from "./targets";

export interface RunForm {
  readonly selected: readonly string[];
  readonly agents: readonly string[];
  readonly name: string;
  readonly sample: number;
  readonly repeats: string;
  readonly withReport: boolean;
  readonly options: RunOptions;
}

const typed = (value: string | number | null | undefined) => (value == null ? "" : String(value));

export function formOf(run: Run): RunForm {
  const { config } = run;
  return {
    selected: [...new Set(config.targets.flatMap((each) => each.model ?? []))],
    agents: [...new Set(config.targets.flatMap((each) => each.connectorId ?? []))],
    name: run.name ?? "",
    sample: config.samplePercentage,
    repeats: String(config.repeats),
    withReport: run.report,
    options: {
      ...NO_OPTIONS,
      version: String(run.definitionVersion),
      seed: config.samplePercentage < 100 ? String(config.sampleSeed) : "",
      temperature: typed(config.temperature),
      turns: typed(config.maxTurns),
      concurrency: typed(config.maxConcurrency),
      judge: typed(config.judgeModel),
      persona: typed(config.personaModel),
      summarizer: typed(config.summarizerModel),
      evaluator: typed(config.evaluatorUrl),
      priority: run.priority,
      experiment: typed(run.experimentId),
    },
  };
}

type Config = NonNullable<RunInput["config"]>;
/** The form shows these settings, or they are handled by themselves. */
type InForm =
  | "temperature"
  | "maxTurns"
  | "maxConcurrency"
  | "judgeModel"
  | "personaModel"
  | "summarizerModel"
  | "evaluatorUrl"
  | "params";

/** It names the settings in a sentence. A new setting is one of these, or the types do not agree. */
const CARRIED = {
  maxAttempts: "attempts per call",
  retryDelaySeconds: "wait before the second attempt",
  callTimeoutSeconds: "timeout of a call",
  staggerMs: "gaps between starts",
  profileId: "operation profile",
  profileVersion: null,
  embeddingModel: "embeddings",
  judgeMaxOutputTokens: "tokens of the judge",
} as const satisfies Record<Exclude<keyof Config, InForm>, string | null>;

interface Carried {
  readonly config: Config;
  /** They name the settings in a sentence. */
  readonly names: readonly string[];
}

/** Returns the settings of a run that the form does not show. */
export function carriedSettings({ config }: Run): Carried {
  const { temperature: _, ...params } = config.params as Record<string, unknown>;
  const hasParams = Object.keys(params).length > 0;
  const set = (Object.keys(CARRIED) as (keyof typeof CARRIED)[]).filter((name) => config[name] != null);
  return {
    config: {
      ...(hasParams && { params }),
      ...Object.fromEntries(set.map((name) => [name, config[name]])),
    } as Carried["config"],
    names: [
      ...(hasParams ? ["parameters of the models"] : []),
      ...set.flatMap((name) => CARRIED[name] ?? []),
      ...(haveFields(config.targets) ? ["labels and settings of targets"] : []),
    ],
  };
}

/** Returns the chosen targets for a request: those of the run have their labels, parameters and limits. */
export function chosenTargets(
  run: Run | undefined,
  models: readonly string[],
  agents: readonly string[],
): Pick<RunInput, "models" | "targets"> {
  const names = [...models, ...agents.map((id) => `connector/${id}`)];
  const old = run?.config.targets ?? [];
  if (!haveFields(old)) return { models: names };
  const isChosen = ({ model, connectorId }: (typeof old)[number]) =>
    (model !== null && models.includes(model)) || (connectorId !== null && agents.includes(connectorId));
  const isNew = (name: string) =>
    !old.some((each) => (each.model ?? `connector/${each.connectorId}`) === name);
  return {
    targets: [
      ...targetInputs(old.filter(isChosen)),
      ...models.filter(isNew).map((model) => ({ model })),
      ...agents.filter((id) => isNew(`connector/${id}`)).map((connectorId) => ({ connectorId })),
    ] as NonNullable<RunInput["targets"]>,
  };
}
