/** Orders the rows of the table of answers by a text of their cases, and groups them by a variable or dimension. */
import type { CaseText } from "../api/types";
import { Outcome, type ProbeTable } from "./probe_table";
import { caseOf, columnOf } from "./result_rows";

/** The order `input` is by the input, `var.tone` by the variable tone; a minus before it says that it is descending. */
export type CaseOrder = `${"" | "-"}${"input" | `var.${string}`}`;

type TextOf = (text: CaseText) => string | null;

const COLLATOR = new Intl.Collator("en", { numeric: true });

export function parseCaseOrder(order: string | undefined): CaseOrder | undefined {
  return order !== undefined && /^-?(input$|var\.[\s\S])/.test(order) ? (order as CaseOrder) : undefined;
}

/** Returns the order that follows on this one when the head of a column is chosen: up, down, and that of the run. */
export function nextOrder(order: string | undefined, column: CaseOrder): CaseOrder | undefined {
  if (order === column) return `-${column}` as CaseOrder;
  return order === `-${column}` ? undefined : column;
}

/** Returns the rows in this order; rows with equal texts keep theirs, and rows without a text come last. */
export function orderedRows(
  rows: readonly number[],
  texts: ReadonlyMap<number, CaseText>,
  order: CaseOrder,
): number[] {
  const textOf = textsOf(order.replace(/^-/, ""));
  const known = new Map(rows.map((row) => [row, textAt(texts, row, textOf)]));
  const sign = order.startsWith("-") ? -1 : 1;
  return rows.toSorted((one, other) => compareTexts(known.get(one) ?? null, known.get(other) ?? null, sign));
}

function textsOf(key: string): TextOf {
  if (key === "input") return ({ input }) => input;
  return variableOf(key.slice("var.".length));
}

function variableOf(name: string): TextOf {
  return ({ values }) => (Object.hasOwn(values, name) ? (values[name] ?? null) : null);
}

function textAt(texts: ReadonlyMap<number, CaseText>, row: number, textOf: TextOf): string | null {
  const text = texts.get(row);
  return text === undefined ? null : textOf(text);
}

/** Compares numbers by their value, and puts them before other texts. */
export function compareTexts(one: string | null, other: string | null, sign: 1 | -1 = 1): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  const [first, second] = [numberIn(one), numberIn(other)];
  if (first !== null && second !== null) return sign * (first - second);
  if (first !== null || second !== null) return sign * (Number(first === null) - Number(second === null));
  return sign * COLLATOR.compare(one, other);
}

function numberIn(text: string): number | null {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? null : value;
}

/** Counts the listed conversations of one target in a group. */
export interface GroupCount {
  conversations: number;
  judged: number;
  passed: number;
}

export interface RowGroup {
  /** It is null for cases without the variable. */
  readonly value: string | null;
  readonly rows: readonly number[];
  /** It has an entry for each target of the run. */
  readonly counts: readonly GroupCount[];
}

/** Groups rows by a variable or dimension, in the order of its values; the rows of a group keep their order. */
export function groupRows(
  rows: readonly number[],
  texts: ReadonlyMap<number, CaseText>,
  name: string,
  table: ProbeTable,
  listed: Int32Array,
): RowGroup[] {
  const byValue = new Map<string | null, number[]>();
  const valueAt = variableOf(name);
  for (const row of rows) {
    const value = textAt(texts, row, valueAt);
    const own = byValue.get(value);
    if (own) own.push(row);
    else byValue.set(value, [row]);
  }
  const groups = [...byValue.entries()]
    .sort(([one], [other]) => compareTexts(one, other))
    .map(([value, own]) => ({ value, rows: own, counts: emptyCounts(table.columns) }));
  const groupOf = new Map(groups.flatMap((group) => group.rows.map((row) => [row, group] as const)));
  for (const index of listed) {
    const count = groupOf.get(caseOf(table, index))?.counts[columnOf(table, index)];
    if (count === undefined) continue;
    const outcome = table.outcome[index];
    count.conversations++;
    if (outcome === Outcome.PASSED) count.passed++;
    if (outcome === Outcome.PASSED || outcome === Outcome.FAILED) count.judged++;
  }
  return groups;
}

function emptyCounts(columns: number): GroupCount[] {
  return Array.from({ length: columns }, () => ({ conversations: 0, judged: 0, passed: 0 }));
}

/**
 * Returns what the table shows from top to bottom: the rows, and before those of each group its heading, which is -1
 * for the first group, -2 for the second and so on. The rows of a folded group are left out.
 */
export function linesOf(groups: readonly RowGroup[], folded: ReadonlySet<string | null>): number[] {
  return groups.flatMap(({ value, rows }, at) => [-1 - at, ...(folded.has(value) ? [] : rows)]);
}

export function groupAt(groups: readonly RowGroup[], line: number): RowGroup | undefined {
  return groups[-1 - line];
}
