/** Parses search parameters of the routes: unknown values fall back to the default, and defaults are left out. */

import { parseDay } from "./days";
import { PAIR_MEASURES, type PairMeasure } from "./pair_measures";
import { LABEL_KINDS, type LabelKind } from "./probe_table";
import {
  DECISIONS,
  type DecisionFilter,
  METRICS,
  type Metric,
  OUTCOMES,
  type OutcomeFilter,
  PROBE_ORDERS,
  type ProbeOrder,
  SHOWN,
  type Shown,
} from "./probes";
import { parseRange, rangeText } from "./ranges";
import { MODES, type Mode, ROW_ORDERS, type RowOrder } from "./result_rows";
import { type CaseOrder, parseCaseOrder } from "./row_groups";
import { RUN_ORDERS, type RunOrder } from "./run_order";

export const STATUSES = [
  "PENDING",
  "RUNNING",
  "PAUSED",
  "SUMMARIZING",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
] as const;
export type RunStatus = (typeof STATUSES)[number];

type Raw = Record<string, unknown>;
const MAX_LENGTH = 200;

function text(raw: Raw, name: string): string | undefined {
  const value = raw[name];
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_LENGTH) : undefined;
}

function choice<T extends string>(raw: Raw, name: string, choices: readonly T[]): T | undefined {
  return choices.find((each) => each === raw[name]);
}

function number(raw: Raw, name: string, min: number, max: number): number | undefined {
  const value = typeof raw[name] === "string" ? Number(raw[name]) : raw[name];
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max
    ? value
    : undefined;
}

/** Removes undefined fields, so that defaults are not in the address. */
function present<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

export interface RunsSearch {
  status?: RunStatus | undefined;
  name?: string | undefined;
  definition?: string | undefined;
  experiment?: string | undefined;
  eval?: string | undefined;
  tag?: string | undefined;
  /** The first and the last day of creation, as `2026-11-20`. */
  from?: string | undefined;
  to?: string | undefined;
  sort?: RunOrder | undefined;
  /** Further columns of the list, separated by commas. */
  cols?: string | undefined;
}

export const RUN_COLUMNS = ["duration", "starter"] as const;
export type RunColumn = (typeof RUN_COLUMNS)[number];

export function parseRunColumns(cols: string | undefined): readonly RunColumn[] {
  const named = (cols ?? "").split(",");
  return RUN_COLUMNS.filter((each) => named.includes(each));
}

/** Returns the last day, unless it is before the first one. */
function lastDay(raw: Raw): string | undefined {
  const [from, to] = [parseDay(text(raw, "from")), parseDay(text(raw, "to"))];
  return from && to && to < from ? undefined : to;
}

export function runsSearch(raw: Raw): RunsSearch {
  return present({
    status: choice(raw, "status", STATUSES),
    name: text(raw, "name"),
    definition: text(raw, "definition"),
    experiment: text(raw, "experiment"),
    eval: text(raw, "eval"),
    tag: text(raw, "tag"),
    from: parseDay(text(raw, "from")),
    to: lastDay(raw),
    sort: choice(raw, "sort", RUN_ORDERS),
    cols: parseRunColumns(text(raw, "cols")).join(",") || undefined,
  });
}

export interface DefinitionsSearch {
  name?: string | undefined;
  folder?: string | undefined;
  tag?: string | undefined;
}
export function definitionsSearch(raw: Raw): DefinitionsSearch {
  return present({ name: text(raw, "name"), folder: text(raw, "folder"), tag: text(raw, "tag") });
}

export interface DefinitionSearch {
  v?: number | undefined;
  /** It is compared with this version, or with the one before it if omitted. */
  against?: number | undefined;
}
export function definitionSearch(raw: Raw): DefinitionSearch {
  return present({ v: number(raw, "v", 1, 9_999_999), against: number(raw, "against", 1, 9_999_999) });
}

const MAX_COLUMNS = 100;

export interface ScenariosSearch {
  q?: string | undefined;
  sort?: string | undefined;
  /** They are the keys of the variables that have a column. */
  cols?: readonly string[] | undefined;
}
export function scenariosSearch(raw: Raw): ScenariosSearch {
  const cols = raw["cols"];
  return present({
    q: text(raw, "q"),
    sort: text(raw, "sort"),
    cols: Array.isArray(cols)
      ? cols.filter((each) => typeof each === "string").slice(0, MAX_COLUMNS)
      : undefined,
  });
}

export interface RunSearch {
  /** It names the label set whose transcripts are labelled instead of showing the run. */
  label?: string | undefined;
}
export function runSearch(raw: Raw): RunSearch {
  return present({ label: text(raw, "label") });
}

export interface ReportSearch {
  version?: string | undefined;
}
export function reportSearch(raw: Raw): ReportSearch {
  return present({ version: text(raw, "version") });
}

/** It maps figures to the range of listed values. */
export type RangeSearch = { [metric in Metric]?: string | undefined };

export type LabelSearch = { [kind in LabelKind]?: string | undefined };

/** The table shows so many lines of each answer, or all of them. */
export const LINES = ["2", "6", "all"] as const;
export type Lines = (typeof LINES)[number];
const MAX_VALUES = 10;

export interface ResultsSearch extends RangeSearch, LabelSearch {
  column?: number | undefined;
  /** It is the id of a target, whose columns are those of all prompts. */
  target?: string | undefined;
  outcome?: OutcomeFilter | undefined;
  mode?: Mode | undefined;
  decision?: DecisionFilter | undefined;
  /** These words are in the input, the name, what is expected or a variable. */
  q?: string | undefined;
  said?: string | undefined;
  /** Cases have a variable with this value: `tone=short`. */
  where?: string | undefined;
  /** Only cases whose results differ from those of this run are shown. */
  since?: string | undefined;
  cols?: string | undefined;
  /** These variables are columns, separated by commas. */
  vars?: string | undefined;
  lines?: Exclude<Lines, "2"> | undefined;
  /** The distribution of this figure is drawn, or of the first that the run has if omitted. */
  by?: Metric | undefined;
  order?: ProbeOrder | RowOrder | CaseOrder | undefined;
  /** Rows are grouped by this variable or dimension. */
  group?: string | undefined;
  /** It is the index of the open probe, never its position in the list. */
  t?: number | undefined;
  /** The conversations of all targets are open beside each other. */
  beside?: true | undefined;
  /** These words are searched for in the open conversation, such as a quotation of a report. */
  find?: string | undefined;
}
export function resultsSearch(raw: Raw): ResultsSearch {
  const ranges = METRICS.map((metric) => {
    const range = parseRange(raw[metric]);
    return [metric, range && rangeText(range)] as const;
  });
  const asText = (name: string) => ({
    [name]: typeof raw[name] === "number" ? String(raw[name]) : raw[name],
  });
  return present({
    column: number(raw, "column", 0, 9_999),
    target: text(raw, "target"),
    outcome: choice(raw, "outcome", OUTCOMES),
    mode: choice(raw, "mode", MODES),
    decision: choice(asText("decision"), "decision", DECISIONS),
    q: text(raw, "q"),
    said: text(raw, "said"),
    where: parseWhere(text(raw, "where")) && text(raw, "where"),
    since: text(raw, "since"),
    cols: columnsText(parseColumns(text(raw, "cols"))),
    vars: valuesText(parseValues(text(raw, "vars"))),
    lines: choice(asText("lines"), "lines", ["6", "all"] as const),
    by: choice(raw, "by", METRICS),
    order: choice(raw, "order", [...PROBE_ORDERS, ...ROW_ORDERS]) ?? parseCaseOrder(text(raw, "order")),
    group: text(raw, "group"),
    t: number(raw, "t", 0, 9_999_999),
    beside: raw["beside"] === true || raw["beside"] === "true" ? true : undefined,
    find: text(raw, "find"),
    ...(Object.fromEntries(ranges) as RangeSearch),
    ...(Object.fromEntries(LABEL_KINDS.map((kind) => [kind, text(raw, kind)])) as LabelSearch),
  });
}

/** Splits `tone=short`; undefined if it is not of this form. */
export function parseWhere(where: string | undefined): readonly [string, string] | undefined {
  const at = where?.indexOf("=") ?? -1;
  return where === undefined || at < 1 ? undefined : [where.slice(0, at), where.slice(at + 1)];
}

/** Returns the columns in the order of the table, whatever the order in the address. */
export function parseColumns(columns: string | undefined): readonly Shown[] {
  if (columns === undefined) return SHOWN;
  const named = columns.split(".");
  return SHOWN.filter((each) => named.includes(each));
}

/** Returns nothing for all, and "none" for the answers alone. */
export function columnsText(columns: readonly Shown[]): string | undefined {
  const named = SHOWN.filter((each) => columns.includes(each)).join(".") || "none";
  return named === SHOWN.join(".") ? undefined : named;
}

export function parseValues(names: string | undefined): readonly string[] {
  return [...new Set((names ?? "").split(",").filter(Boolean))].slice(0, MAX_VALUES);
}

export function valuesText(names: readonly string[]): string | undefined {
  return names.join(",") || undefined;
}

export const CHANGES = ["increased", "decreased", "unchanged"] as const;

export interface CompareSearch {
  a?: string | undefined;
  b?: string | undefined;
  /** Only scenarios that changed in this way are shown. */
  only?: (typeof CHANGES)[number] | undefined;
  row?: number | undefined;
  /** It names the scenario whose conversations are open, and the repeat. */
  s?: string | undefined;
  repeat?: number | undefined;
  c?: string | undefined;
}
export function compareSearch(raw: Raw): CompareSearch {
  return present({
    a: text(raw, "a"),
    b: text(raw, "b"),
    only: choice(raw, "only", CHANGES),
    row: number(raw, "row", 1, 200),
    s: text(raw, "s"),
    repeat: number(raw, "repeat", 1, 9_999),
    c: text(raw, "c"),
  });
}

export interface ExperimentSearch {
  /** The pairs of runs are compared for this target, or for all together if omitted. */
  target?: string | undefined;
  /** Pairs are compared by this measure; if omitted, as each comparison was made. */
  measure?: PairMeasure | undefined;
}
export function experimentSearch(raw: Raw): ExperimentSearch {
  return present({ target: text(raw, "target"), measure: choice(raw, "measure", PAIR_MEASURES) });
}

export interface ChatSearch {
  branch?: string | undefined;
}
export function chatSearch(raw: Raw): ChatSearch {
  return present({ branch: text(raw, "branch") });
}

export interface VersionSearch {
  v?: number | undefined;
}
export function versionSearch(raw: Raw): VersionSearch {
  return present({ v: number(raw, "v", 1, 9_999_999) });
}

export interface NewSearch {
  definition?: string | undefined;
  /** The form has the settings of this run. */
  run?: string | undefined;
  /** The run belongs to this experiment. */
  experiment?: string | undefined;
}
export function newSearch(raw: Raw): NewSearch {
  return present({
    definition: text(raw, "definition"),
    run: text(raw, "run"),
    experiment: text(raw, "experiment"),
  });
}

export interface LoginSearch {
  to?: string | undefined;
}
/** `to` is an address within the page: a path, and no other host. */
export function loginSearch(raw: Raw): LoginSearch {
  return present({ to: safePath(text(raw, "to")) });
}

export function safePath(path: string | null | undefined): string | undefined {
  return path && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(path) ? path : undefined;
}
