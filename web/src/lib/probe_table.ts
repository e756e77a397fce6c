import type { Schemas } from "../api/types";

export type ProbeColumns = Schemas["ProbeColumns"];

export const BLOCK = 1_000;
export const Outcome = { NONE: 0, PASSED: 1, FAILED: 2, ERRORED: 3, UNJUDGED: 4 } as const;
export type OutcomeCode = (typeof Outcome)[keyof typeof Outcome];
export const OTHER = 255;

export interface Shape {
  readonly total: number;
  readonly columns: number;
  readonly repeats: number;
}

export interface ProbeTable extends Shape {
  readonly cases: number;
  readonly outcome: Uint8Array;
  /** It is `case * columns + column`, or -1 until its block is loaded. */
  readonly cell: Int32Array;
  /** It is 1 to 5, OTHER, or 0 without a decision. */
  readonly decision: Uint8Array;
  /** It is NaN where there is none; so are the following. */
  readonly score: Float32Array;
  readonly durationMs: Float32Array;
  readonly costUsd: Float32Array;
  readonly tokens: Float32Array;
  readonly turns: Float32Array;
  /** They are positions in `labels`, or NONE; probes with the same tags share one list. */
  readonly tags: (readonly number[])[];
  readonly failedChecks: (readonly number[])[];
  readonly passedChecks: (readonly number[])[];
  /** It is a position in `labels`, or -1 without an error. */
  readonly error: Int16Array;
  readonly labels: Labels;
  /** It maps `case * columns + column` to the first repeat of a cell, or -1 until its block is loaded. */
  readonly firstIndex: Int32Array;
  /** It tells by number whether a block is loaded. */
  readonly loaded: Uint8Array;
}

export const LABEL_KINDS = ["tag", "check", "error"] as const;
export type LabelKind = (typeof LABEL_KINDS)[number];
export type Labels = Readonly<Record<LabelKind, string[]>>;
const NONE: readonly number[] = [];

export function emptyTable({ total, columns, repeats }: Shape): ProbeTable {
  const cases = Math.round(total / Math.max(1, columns * repeats));
  const unknown = () => new Float32Array(total).fill(Number.NaN);
  return {
    total,
    columns,
    repeats,
    cases,
    outcome: new Uint8Array(total),
    cell: new Int32Array(total).fill(-1),
    decision: new Uint8Array(total),
    score: unknown(),
    durationMs: unknown(),
    costUsd: unknown(),
    tokens: unknown(),
    turns: unknown(),
    tags: Array.from({ length: total }, () => NONE),
    failedChecks: Array.from({ length: total }, () => NONE),
    passedChecks: Array.from({ length: total }, () => NONE),
    error: new Int16Array(total).fill(-1),
    labels: { tag: [], check: [], error: [] },
    firstIndex: new Int32Array(cases * columns).fill(-1),
    loaded: new Uint8Array(Math.ceil(total / BLOCK)),
  };
}

export function addBlock(table: ProbeTable, block: ProbeColumns): void {
  const first = block.firstIndex;
  const tags = listsOf(table.labels.tag, block.tagNames);
  const checks = listsOf(table.labels.check, block.checkNames);
  for (let offset = 0; offset < block.case.length; offset++) {
    const index = first + offset;
    const completed = block.completed[offset];
    table.outcome[index] = outcomeOf(completed ?? null, block.success[offset] ?? null);
    table.decision[index] = decisionOf(block.decision[offset] ?? null);
    table.score[index] = block.score[offset] ?? Number.NaN;
    table.durationMs[index] = block.durationMs[offset] ?? Number.NaN;
    table.costUsd[index] = block.costUsd[offset] ?? Number.NaN;
    table.tokens[index] =
      (block.inputTokens[offset] ?? Number.NaN) + (block.outputTokens[offset] ?? Number.NaN);
    table.turns[index] = block.turns[offset] ?? Number.NaN;
    table.tags[index] = tags(block.tags[offset] ?? NONE);
    table.failedChecks[index] = checks(block.failedChecks[offset] ?? NONE);
    table.passedChecks[index] = checks(block.passedChecks[offset] ?? NONE);
    const error = block.errorCode[offset] ?? null;
    table.error[index] = error === null ? -1 : positionOf(table.labels.error, error);
    const cell = (block.case[offset] ?? 0) * table.columns + (block.column[offset] ?? 0);
    table.cell[index] = cell;
    table.firstIndex[cell] = index - (block.repeat[offset] ?? 0);
  }
  table.loaded[Math.floor(first / BLOCK)] = 1;
}

function positionOf(names: string[], name: string): number {
  const found = names.indexOf(name);
  return found >= 0 ? found : names.push(name) - 1;
}

function listsOf(names: string[], ofBlock: readonly string[]) {
  const positions = ofBlock.map((name) => positionOf(names, name));
  const lists = new Map<string, readonly number[]>();
  return (own: readonly number[]): readonly number[] => {
    if (own.length === 0) return NONE;
    const key = own.join();
    const list = lists.get(key) ?? own.map((each) => positions[each] ?? -1);
    lists.set(key, list);
    return list;
  };
}

function outcomeOf(completed: boolean | null, success: boolean | null): OutcomeCode {
  if (completed === null) return Outcome.NONE;
  if (!completed) return Outcome.ERRORED;
  if (success === null) return Outcome.UNJUDGED;
  return success ? Outcome.PASSED : Outcome.FAILED;
}

function decisionOf(code: string | null): number {
  if (code === null) return 0;
  return /^[1-5]$/.test(code) ? Number(code) : OTHER;
}

/**
 * Returns the blocks that are not loaded, or have a probe that may still get another outcome: a retry runs errored ones
 * again.
 */
export function unsettledBlocks(table: ProbeTable): number[] {
  const unsettled: number[] = [];
  for (let block = 0; block < table.loaded.length; block++) {
    const outcomes = table.outcome.subarray(block * BLOCK, (block + 1) * BLOCK);
    const isOpen = outcomes.some((each) => each === Outcome.NONE || each === Outcome.ERRORED);
    if (isOpen || !table.loaded[block]) unsettled.push(block);
  }
  return unsettled;
}

export function loadedBlocks(table: ProbeTable): number {
  return table.loaded.reduce((sum, each) => sum + each, 0);
}

export interface Cell {
  readonly firstIndex: number;
  readonly outcomes: readonly OutcomeCode[];
  readonly passed: number;
  readonly judged: number;
  readonly errored: number;
  /** It is the mean of the decisions that are numbers; null without one. */
  readonly meanDecision: number | null;
  readonly decided: number;
}

/** Returns the results of one column in a case; null until its block is loaded. */
export function readCell(table: ProbeTable, row: number, column: number): Cell | null {
  const firstIndex = table.firstIndex[row * table.columns + column] ?? -1;
  if (firstIndex < 0) return null;
  const outcomes: OutcomeCode[] = [];
  let [passed, judged, errored, sum, decided] = [0, 0, 0, 0, 0];
  for (let index = firstIndex; index < firstIndex + table.repeats; index++) {
    const outcome = table.outcome[index] as OutcomeCode;
    outcomes.push(outcome);
    if (outcome === Outcome.PASSED) passed++;
    if (outcome === Outcome.PASSED || outcome === Outcome.FAILED) judged++;
    if (outcome === Outcome.ERRORED) errored++;
    const decision = table.decision[index] ?? 0;
    if (decision >= 1 && decision <= 5) {
      sum += decision;
      decided++;
    }
  }
  return {
    firstIndex,
    outcomes,
    passed,
    judged,
    errored,
    meanDecision: decided > 0 ? sum / decided : null,
    decided,
  };
}
