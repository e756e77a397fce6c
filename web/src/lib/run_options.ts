/** The optional settings of a run of a definition, from the fields of its form. */

import { CreateRun } from "../api/limits";
import type { RunInput } from "../api/types";
import { counted, formatCount } from "./format";
import { parseDecimal, parseWhole } from "./forms";

export type Priority = (typeof CreateRun.priority.options)[number];
/** Bounds of the numbers among the options. */
export const BOUNDS = {
  version: CreateRun.definitionVersion,
  seed: CreateRun.sampleSeed,
  temperature: CreateRun["config.temperature"],
  turns: CreateRun["config.maxTurns"],
  concurrency: CreateRun["config.maxConcurrency"],
} as const;

export interface RunOptions {
  readonly version: string;
  readonly seed: string;
  readonly priority: Priority;
  readonly experiment: string;
  readonly temperature: string;
  readonly turns: string;
  readonly concurrency: string;
  readonly judge: string;
  readonly persona: string;
  readonly summarizer: string;
}

export const NO_OPTIONS: RunOptions = {
  version: "",
  seed: "",
  priority: CreateRun.priority.default,
  experiment: "",
  temperature: "",
  turns: "",
  concurrency: "",
  judge: "",
  persona: "",
  summarizer: "",
};

export type OptionError = keyof typeof BOUNDS;

/** The fields whose text is no number of their range. */
export function wrongOptions(options: RunOptions): OptionError[] {
  const values = parsed(options);
  return (Object.keys(values) as OptionError[]).filter((name) => values[name] === undefined);
}

function parsed(options: RunOptions) {
  return {
    version: parseWhole(options.version, BOUNDS.version),
    seed: parseWhole(options.seed, BOUNDS.seed),
    temperature: parseDecimal(options.temperature, BOUNDS.temperature),
    turns: parseWhole(options.turns, BOUNDS.turns),
    concurrency: parseWhole(options.concurrency, BOUNDS.concurrency),
  };
}

/** What differs from the defaults; undefined while a field is wrong. */
export function optionsInput(options: RunOptions): Partial<RunInput> | undefined {
  if (wrongOptions(options).length > 0) return undefined;
  const { version, seed, temperature, turns, concurrency } = parsed(options);
  const config = present({
    temperature,
    maxTurns: turns,
    maxConcurrency: concurrency,
    judgeModel: options.judge.trim() || null,
    personaModel: options.persona.trim() || null,
    summarizerModel: options.summarizer.trim() || null,
  });
  return present({
    definitionVersion: version,
    sampleSeed: seed,
    priority: options.priority === NO_OPTIONS.priority ? null : options.priority,
    experimentId: options.experiment || null,
    config: Object.keys(config).length > 0 ? config : null,
  }) as Partial<RunInput>;
}

function present<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;
}

/** How many options differ from their defaults. */
export function countOptions(options: RunOptions): number {
  return (Object.keys(options) as (keyof RunOptions)[]).filter((each) => options[each] !== NO_OPTIONS[each])
    .length;
}

export interface Factors {
  readonly targets: number;
  readonly repeats: number;
}

/** How a number of conversations comes about; nothing where it is no product of these. `further`: those that the whole
 * of a sampled definition would add. */
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
      ? `${formatCount(cases)} of ${counted(all, "case")}`
      : counted(cases, "case");
  return [shown, counted(targets, "target"), counted(repeats, "repeat")].join(" × ");
}
