/** Writes the outcomes of a run in the formats of `cupel export` that need nothing but them. */
import type { Run, Schemas } from "../api/types";
import { type Said, saidText } from "./conversation_text";
import { describedChecks } from "./left_out_checks";

export type ExportFormat = "jsonl" | "csv";

/** A transcript, or a probe that ended in an error. */
export type Outcome = Readonly<Record<string, unknown>>;

/** Has the outcomes of a run and the labels of people, each by probe index. */
export interface Sources {
  readonly transcripts: AsyncIterable<Outcome>;
  readonly errored: AsyncIterable<Outcome>;
  readonly labels: AsyncIterable<Schemas["Label"]>;
}

const COLUMNS = [
  "probeIndex",
  "status",
  "scenarioName",
  "personaName",
  "repeat",
  "variables",
  "dimensions",
  "metadata",
  "scenarioId",
  "personaId",
  "targetId",
  "promptId",
  "modelId",
  "modelVersion",
  "decisionCode",
  "decisionText",
  "passed",
  "score",
  "reason",
  "tags",
  "labels",
  "leftOutChecks",
  "omittedParameters",
  "turnCount",
  "inputTokens",
  "outputTokens",
  "durationMs",
  "costUsd",
  "judgeCostUsd",
  "simulatedUserCostUsd",
  "operationsCostUsd",
  "totalCostUsd",
  "createdAt",
  "question",
  "answer",
  "errorCode",
  "errorMessage",
] as const;
const OF_DECISIONS: readonly string[] = ["decisionCode", "decisionText"];
const JSON_COLUMNS = ["variables", "dimensions", "metadata", "labels"] as const;
const COSTS = {
  target: "costUsd",
  judge: "judgeCostUsd",
  persona: "simulatedUserCostUsd",
  operation: "operationsCostUsd",
} as const;
/** The last four are full-width forms, which spreadsheets in some languages treat alike. */
const FORMULA_STARTS = ["=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠"];

/** Yields the outcomes by probe index, with the labels of people. */
export async function* mergedOutcomes({ transcripts, errored, labels }: Sources): AsyncGenerator<Outcome> {
  const [one, other, given] = [transcripts, errored, labels].map((each) => each[Symbol.asyncIterator]()) as [
    AsyncIterator<Outcome>,
    AsyncIterator<Outcome>,
    AsyncIterator<Schemas["Label"]>,
  ];
  let [left, right, label] = [await next(one), await next(other), await next(given)];
  for (;;) {
    const outcome = left && (!right || indexOf(left) <= indexOf(right)) ? left : right;
    if (outcome === undefined) return;
    const index = indexOf(outcome);
    const own: unknown[] = [];
    for (; label && labelledIndex(label) <= index; label = await next(given)) {
      const { probeId: _, ...rest } = label;
      if (labelledIndex(label) === index) own.push(rest);
    }
    yield own.length > 0 ? { ...outcome, labels: own } : outcome;
    if (outcome === left) left = await next(one);
    else right = await next(other);
  }
}

async function next<T>(values: AsyncIterator<T>): Promise<T | undefined> {
  const { done, value } = await values.next();
  return done ? undefined : value;
}

function indexOf(outcome: Outcome): number {
  return Number(outcome["probeIndex"] ?? outcome["index"]);
}

function labelledIndex({ probeId }: { readonly probeId: string }): number {
  return Number(probeId.slice(probeId.lastIndexOf("-") + 1));
}

/** Returns one line of JSON. It has every text unchanged, but none that would control a terminal. */
export function jsonLine(outcome: Outcome): string {
  const { definitionSnapshot: _, ...exported } = outcome;
  return `${printableJson({ ...exported, ...identityOf(outcome) })}\n`;
}

/** Returns the columns of the table; those of decisions are missing where the definition asks for none. */
export function csvColumns({ config }: Pick<Run, "config">): readonly string[] {
  const snapshot = config.definitionSnapshot;
  const mayDecide = snapshot === null || snapshot["decision"] != null;
  return COLUMNS.filter((name) => mayDecide || !OF_DECISIONS.includes(name));
}

export function csvHeader(columns: readonly string[]): string {
  return `${columns.join(",")}\n`;
}

export function csvRow(outcome: Outcome, columns: readonly string[]): string {
  const row = rowOf(outcome);
  return `${columns.map((name) => csvCell(row[name])).join(",")}\n`;
}

type Part = Readonly<Record<string, unknown>>;

function partOf(value: unknown): Part {
  return typeof value === "object" && value !== null ? (value as Part) : {};
}

function rowOf(outcome: Outcome): Record<string, unknown> {
  const [result, error, scoring] = [outcome["result"], outcome["error"], outcome["scoring"]].map(partOf) as [
    Part,
    Part,
    Part,
  ];
  const messages = (partOf(outcome["content"])["messages"] ?? []) as readonly Said[];
  const last = (role: Said["role"]) => {
    const found = messages.findLast((each) => each.role === role);
    return found ? saidText(found) : "";
  };
  const calls = (outcome["costs"] ?? error["costs"] ?? []) as readonly { role: string; costUsd: unknown }[];
  const costOf = (role: string) => usd(calls.find((each) => each.role === role)?.costUsd);
  const json = JSON_COLUMNS.map((name) => [
    name,
    isFilled(outcome[name]) ? printableJson(outcome[name]) : null,
  ]);
  return {
    ...outcome,
    ...partOf(outcome["usage"]),
    ...result,
    ...identityOf(outcome),
    ...Object.fromEntries(Object.entries(COSTS).map(([role, name]) => [name, costOf(role)])),
    totalCostUsd: usd(partOf(outcome["totalSpend"] ?? error["totalSpend"])["costUsd"]),
    createdAt: error["createdAt"] ?? outcome["createdAt"],
    tags: ((scoring["tags"] ?? []) as string[]).join(" "),
    leftOutChecks: outcome["corrected"]
      ? ""
      : describedChecks(Object.entries(partOf(scoring["leftOutChecks"])) as [string, number][]),
    omittedParameters: ((outcome["omittedParameters"] ?? []) as string[]).join(" "),
    passed: result["success"],
    question: last("user"),
    answer: last("assistant"),
    errorCode: error["code"],
    errorMessage: error["message"],
    ...Object.fromEntries(json),
  };
}

function identityOf(outcome: Outcome) {
  return { probeIndex: indexOf(outcome), status: outcome["error"] == null ? "COMPLETED" : "ERROR" };
}

function isFilled(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** Returns billionths of a dollar at most, without an exponent. */
function usd(amount: unknown): string | null {
  if (typeof amount !== "number") return null;
  return amount.toFixed(9).replace(/\.?0+$/, "");
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  const text = printable(String(value));
  const safe = FORMULA_STARTS.some((each) => text.startsWith(each)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const CONTROLS = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
const HALVES = /\p{Surrogate}/gu;

function isShown(character: string): boolean {
  return character === "\n" || character === "\t";
}

function printable(text: string): string {
  return text.replace(CONTROLS, (each) => (isShown(each) ? each : "")).replace(HALVES, "");
}

function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(
    CONTROLS,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
