import type { RunInput } from "../api/types";
import { counted, formatCount } from "./format";
import { parseWhole } from "./forms";

export const PRIORITIES = ["LOW", "NORMAL", "HIGH"] as const;
export type Priority = (typeof PRIORITIES)[number];
export const MAX_TURNS = 100;
export const MAX_CONCURRENCY = 1_000;
export const MAX_SEED = Number.MAX_SAFE_INTEGER;
const MAX_VERSION = 1_000_000;
const MAX_TEMPERATURE = 2;

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
  priority: "NORMAL",
  experiment: "",
  temperature: "",
  turns: "",
  concurrency: "",
  judge: "",
  persona: "",
  summarizer: "",
};

export type OptionError = "version" | "seed" | "temperature" | "turns" | "concurrency";

/** Returns the fields whose text is no number of their range. */
export function wrongOptions(options: RunOptions): OptionError[] {
  const { version, seed, temperature, turns, concurrency } = parsed(options);
  const values = { version, seed, temperature, turns, concurrency };
  return (Object.keys(values) as OptionError[]).filter((name) => values[name] === undefined);
}

function parsed(options: RunOptions) {
  return {
    version: parseWhole(options.version, 1, MAX_VERSION),
    seed: parseWhole(options.seed, 0, MAX_SEED),
    temperature: parseTemperature(options.temperature),
    turns: parseWhole(options.turns, 1, MAX_TURNS),
    concurrency: parseWhole(options.concurrency, 1, MAX_CONCURRENCY),
  };
}

/** Returns null for an empty field, undefined for text that is no number. */
function parseTemperature(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const value = /^(\d+(\.\d*)?|\.\d+)$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  return value <= MAX_TEMPERATURE ? value : undefined;
}

/** Returns the values that differ from the defaults; undefined while a field is wrong. */
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
    priority: options.priority === "NORMAL" ? null : options.priority,
    experimentId: options.experiment || null,
    config: Object.keys(config).length > 0 ? config : null,
  }) as Partial<RunInput>;
}

function present<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;
}

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
      ? `${formatCount(cases)} of ${counted(all, "case")}`
      : counted(cases, "case");
  return [shown, counted(targets, "target"), counted(repeats, "repeat")].join(" × ");
}
