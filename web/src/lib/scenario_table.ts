import { checkOf, checkText, valueText } from "./checks";
import { type Said, saidText } from "./conversation_text";
import { type Content, isContent } from "./definitions";

/** Names the parts of a scenario that the table reads. */
export interface Row {
  readonly id: string;
  readonly name: string;
  readonly messages: readonly Said[];
  readonly dimensions: Readonly<Record<string, number>>;
  readonly metadata: Content;
  readonly instructions?: string | null;
  readonly assertions?: readonly Content[];
}

/** A variable of prompts and assertions, or the scenario's score in a dimension of the definition. */
export interface Variable {
  readonly kind: "variable" | "dimension";
  readonly name: string;
}

const FIXED = ["name", "message", "checks", "rate"] as const;
export type SortColumn = (typeof FIXED)[number] | Variable;
export interface Sorting {
  readonly column: SortColumn;
  readonly isDescending: boolean;
}

/** This many variables have a column before any is chosen. */
const MOST_BY_DEFAULT = 4;

export function variablesOf(row: Row): Content {
  const vars = row.metadata["vars"];
  return isContent(vars) ? vars : {};
}

/** Lists the variables and dimensions of all rows, the most frequent first, and equally frequent ones as they came. */
export function variableColumns(rows: readonly Row[]): Variable[] {
  const counts = new Map<string, { variable: Variable; count: number }>();
  const add = (variable: Variable) => {
    const key = variableKey(variable);
    const known = counts.get(key);
    if (known) known.count++;
    else counts.set(key, { variable, count: 1 });
  };
  for (const row of rows) {
    for (const name of Object.keys(variablesOf(row))) add({ kind: "variable", name });
    for (const name of Object.keys(row.dimensions)) add({ kind: "dimension", name });
  }
  return [...counts.values()].sort((one, other) => other.count - one.count).map((each) => each.variable);
}

/** Returns the variables with a column: those that the address names, or the most frequent ones. */
export function shownVariables(
  all: readonly Variable[],
  chosen: readonly string[] | undefined,
): readonly Variable[] {
  return chosen === undefined
    ? all.slice(0, MOST_BY_DEFAULT)
    : all.filter((each) => chosen.includes(variableKey(each)));
}

/** Identifies a variable in the address. */
export function variableKey({ kind, name }: Variable): string {
  return `${kind === "variable" ? "vars" : "dimensions"}.${name}`;
}

export function columnKey(column: SortColumn): string {
  return typeof column === "string" ? column : variableKey(column);
}

export function variableValue(row: Row, { kind, name }: Variable): unknown {
  const values: Content = kind === "variable" ? variablesOf(row) : row.dimensions;
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Returns the first text of the user: what distinguishes a scenario from others. */
export function messageText(row: Row): string {
  const first = row.messages.find((each) => each.role === "user") ?? row.messages[0];
  return first ? saidText(first) : (row.instructions ?? "");
}

/** Tells whether the scenario starts with one text of the user, which a change of `prompt` replaces. */
export function hasOneText({ messages }: Row): boolean {
  const [first] = messages;
  return messages.length === 1 && first?.role === "user" && typeof first.content === "string";
}

/** Returns the request that changes a variable, without the other metadata being lost. */
export function variableChange(row: Row, { kind, name }: Variable, text: string): Content {
  if (kind === "dimension") {
    const { [name]: _, ...others } = row.dimensions;
    const score = Number(text);
    if (text.trim() === "") return { dimensions: others };
    return { dimensions: { ...row.dimensions, [name]: Number.isNaN(score) ? text : score } };
  }
  const value = typedValue(text, variablesOf(row)[name]);
  return { metadata: { ...row.metadata, vars: { ...variablesOf(row), [name]: value } } };
}

/** Keeps the type of a value: what was a number, true, a list or null is read as JSON, if it is JSON. */
export function typedValue(text: string, before: unknown): unknown {
  if (before === undefined || typeof before === "string") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Returns the text that is edited: a text as it is, other values as JSON. */
export function editedText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the request that changes what one of the scenario's checks compares the answer with. */
export function checkChange(row: Row, index: number, text: string): Content {
  const assertions = (row.assertions ?? []).map((each, position) =>
    position === index ? { ...each, value: text } : each,
  );
  return { assertions };
}

export function checksText(row: Row): string {
  return (row.assertions ?? []).map((each) => checkText(checkOf(each))).join("; ");
}

export type Rates = ReadonlyMap<string, { readonly passed: number; readonly judged: number }>;

/** Adds up the results of all targets and prompts by scenario. */
export function ratesByScenario(
  scores: readonly { readonly scenarioId: string; readonly judged: number; readonly successes: number }[],
): Rates {
  const rates = new Map<string, { passed: number; judged: number }>();
  for (const { scenarioId, judged, successes } of scores) {
    const known = rates.get(scenarioId) ?? { passed: 0, judged: 0 };
    rates.set(scenarioId, { passed: known.passed + successes, judged: known.judged + judged });
  }
  return rates;
}

export function rateOf(rates: Rates | undefined, id: string): number | null {
  const rate = rates?.get(id);
  return rate === undefined || rate.judged === 0 ? null : rate.passed / rate.judged;
}

/** Returns the rows that have the words anywhere, in the chosen order; rows without a value come last. */
export function shownRows<T extends Row>(
  rows: readonly T[],
  { words, sorting, rates }: { words: string; sorting: Sorting | undefined; rates: Rates | undefined },
): readonly T[] {
  const sought = words.trim().toLowerCase();
  const found = sought === "" ? rows : rows.filter((row) => searched(row).includes(sought));
  if (sorting === undefined) return found;
  const keyed = found.map((row) => ({ row, key: keyOf(row, sorting.column, rates) }));
  return keyed.sort((one, other) => compare(one.key, other.key, sorting.isDescending)).map(({ row }) => row);
}

function searched(row: Row): string {
  const variables = Object.entries(variablesOf(row)).map(([name, value]) => `${name} ${valueText(value)}`);
  const scores = Object.entries(row.dimensions).map(([name, value]) => `${name} ${value}`);
  const said = row.messages.map(saidText);
  return [row.name, row.id, row.instructions ?? "", ...said, ...variables, ...scores, checksText(row)]
    .join("\n")
    .toLowerCase();
}

function keyOf(row: Row, column: SortColumn, rates: Rates | undefined): string | number | null {
  if (column === "name") return row.name || row.id;
  if (column === "message") return messageText(row) || null;
  if (column === "checks") return checksText(row) || null;
  if (column === "rate") return rateOf(rates, row.id);
  const value = variableValue(row, column);
  return typeof value === "number" ? value : valueText(value) || null;
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function compare(one: string | number | null, other: string | number | null, isDescending: boolean): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  const order =
    typeof one === "number" && typeof other === "number"
      ? one - other
      : collator.compare(String(one), String(other));
  return isDescending ? -order : order;
}

/** Reads a sorting from the address: a column, with a hyphen before it for descending order. */
export function parseSorting(text: string | undefined, variables: readonly Variable[]): Sorting | undefined {
  if (text === undefined) return undefined;
  const isDescending = text.startsWith("-");
  const key = isDescending ? text.slice(1) : text;
  const column = FIXED.find((each) => each === key) ?? variables.find((each) => variableKey(each) === key);
  return column && { column, isDescending };
}

export function sortingText({ column, isDescending }: Sorting): string {
  return `${isDescending ? "-" : ""}${columnKey(column)}`;
}

/** Sorts ascending first, then descending, then not. */
export function nextSorting(now: Sorting | undefined, column: SortColumn): Sorting | undefined {
  if (now === undefined || columnKey(now.column) !== columnKey(column))
    return { column, isDescending: false };
  return now.isDescending ? undefined : { column, isDescending: true };
}
