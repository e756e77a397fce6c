import { CreateRun } from "../api/limits";
import type { RunInput } from "../api/types";
import { counted, formatCount } from "./format";
import { type Bounds, parseDecimal, parseWhole } from "./forms";

export type Priority = (typeof CreateRun.priority.options)[number];

export type OptionField = {
  readonly name: string;
  readonly id: string;
  readonly label: string;
  /** The request has the option in this field. */
  readonly field: keyof typeof CreateRun;
  readonly note?: string;
} & (
  | { readonly kind: "whole" | "decimal"; readonly bounds: Bounds; readonly size?: number }
  | { readonly kind: "model"; readonly placeholder: string }
  | { readonly kind: "profile" }
  | { readonly kind: "text"; readonly maxLength: number }
);

/** They are in the order of the form. An option without text is left out of the request. */
export const FIELDS = [
  {
    name: "version",
    id: "version",
    label: "Definition version (optional)",
    field: "definitionVersion",
    kind: "whole",
    bounds: CreateRun.definitionVersion,
    note: "Empty for the newest",
  },
  {
    name: "seed",
    id: "seed",
    label: "Sample seed (optional)",
    field: "sampleSeed",
    kind: "whole",
    bounds: CreateRun.sampleSeed,
    note: "The same seed draws the same scenarios; one is drawn if this is empty",
    size: 16,
  },
  {
    name: "temperature",
    id: "temperature",
    label: "Temperature (optional)",
    field: "config.temperature",
    kind: "decimal",
    bounds: CreateRun["config.temperature"],
    note: "Empty for what the definition or the model has",
  },
  {
    name: "turns",
    id: "turns",
    label: "Maximum turns per conversation (optional)",
    field: "config.maxTurns",
    kind: "whole",
    bounds: CreateRun["config.maxTurns"],
  },
  {
    name: "concurrency",
    id: "concurrency",
    label: "Concurrency (conversations at once, optional)",
    field: "config.maxConcurrency",
    kind: "whole",
    bounds: CreateRun["config.maxConcurrency"],
    note: "Empty for no limit of the run's own",
  },
  {
    name: "judge",
    id: "judge",
    label: "Judge",
    field: "config.judgeModel",
    kind: "model",
    placeholder: "definition or workspace default",
  },
  {
    name: "persona",
    id: "persona-model",
    label: "Simulated user",
    field: "config.personaModel",
    kind: "model",
    placeholder: "the judge",
  },
  {
    name: "summarizer",
    id: "summarizer",
    label: "Summarizer of reports",
    field: "config.summarizerModel",
    kind: "model",
    placeholder: "workspace default, or the judge",
  },
  { name: "profile", id: "profile", label: "Operation profile", field: "config.profileId", kind: "profile" },
  {
    name: "evaluator",
    id: "evaluator",
    label: "Address of an external evaluator (optional)",
    field: "config.evaluatorUrl",
    kind: "text",
    maxLength: CreateRun["config.evaluatorUrl"].maxLength,
    note: "Empty for that of the workspace",
  },
] as const satisfies readonly OptionField[];

export type TypedOption = (typeof FIELDS)[number]["name"];

export interface RunOptions extends Readonly<Record<TypedOption, string>> {
  readonly priority: Priority;
  readonly experiment: string;
}

export const NO_OPTIONS: RunOptions = {
  ...(Object.fromEntries(FIELDS.map((each) => [each.name, ""])) as Record<TypedOption, string>),
  priority: CreateRun.priority.default,
  experiment: "",
};

/** Returns null for an empty field, undefined for text that is no number within the bounds. */
function inputOf(field: OptionField, text: string): string | number | null | undefined {
  switch (field.kind) {
    case "whole":
      return parseWhole(text, field.bounds);
    case "decimal":
      return parseDecimal(text, field.bounds);
    default:
      return text.trim() || null;
  }
}

/** Returns the fields whose text is no number of their range. */
export function wrongOptions(options: RunOptions): TypedOption[] {
  return FIELDS.filter((each) => inputOf(each, options[each.name]) === undefined).map((each) => each.name);
}

/** Returns the values that differ from the defaults; undefined while a field is wrong. */
export function optionsInput(options: RunOptions): Partial<RunInput> | undefined {
  if (wrongOptions(options).length > 0) return undefined;
  const given = FIELDS.map((each) => [each.field, inputOf(each, options[each.name])] as const).filter(
    ([, value]) => value !== null,
  );
  const config = given.flatMap(([field, value]) =>
    field.startsWith(CONFIG) ? [[field.slice(CONFIG.length), value]] : [],
  );
  return {
    ...Object.fromEntries(given.filter(([field]) => !field.startsWith(CONFIG))),
    ...(options.priority !== NO_OPTIONS.priority && { priority: options.priority }),
    ...(options.experiment && { experimentId: options.experiment }),
    ...(config.length > 0 && { config: Object.fromEntries(config) }),
  } as Partial<RunInput>;
}

const CONFIG = "config.";

/** Counts the options that differ from their defaults. */
export function countOptions(options: RunOptions): number {
  return (Object.keys(options) as (keyof RunOptions)[]).filter((each) => options[each] !== NO_OPTIONS[each])
    .length;
}

export interface Factors {
  readonly targets: number;
  readonly repeats: number;
}

/**
 * Returns the factors of a number of conversations, or nothing where it is no product of these. `further` counts those
 * that the whole of a sampled definition would add.
 */
export function factorsText(
  conversations: number,
  { targets, repeats }: Factors,
  further: number,
): string | null {
  const each = targets * repeats;
  const [cases, all] = [conversations / each, (conversations + further) / each];
  if (!Number.isInteger(cases)) return null;
  const shown =
    further > 0 && Number.isInteger(all)
      ? `${formatCount(cases)} of ${counted(all, "conversation")}`
      : counted(cases, "conversation");
  return [shown, counted(targets, "target"), counted(repeats, "repeat")].join(" × ");
}
