/** Orders the transcripts that one person labels, and the keys and words of labels. */
import type { Label, LabelSet, LabelSetItem } from "../api/types";
import { formatCount } from "./format";

export type LabelValue = NonNullable<Label["value"]>;

export interface Choice {
  readonly key: string;
  readonly value: LabelValue;
  readonly word: string;
}

const SKIP: Choice = { key: "s", value: "skip", word: "Skip" };
const VERDICTS: readonly Choice[] = [
  { key: "1", value: "pass", word: "Pass" },
  { key: "0", value: "fail", word: "Fail" },
  SKIP,
];
const CODES: readonly Choice[] = [
  ...(["1", "2", "3", "4", "5"] as const).map((code) => ({ key: code, value: code, word: code })),
  SKIP,
];
const DECISION = "decision";

/** Returns the labels that a criterion has, with their keys. */
export function choicesOf(criterion: string): readonly Choice[] {
  return criterion === DECISION ? CODES : VERDICTS;
}

/** True for a verdict on an answer, and false for a comment alone. */
export function isVerdict<L extends Pick<Label, "value">>(
  label: L | null | undefined,
): label is L & { value: LabelValue } {
  return label?.value != null;
}

const WORDS: Partial<Record<LabelValue, string>> = { pass: "pass", fail: "fail", skip: "skipped" };

export function labelWord(value: LabelValue | null): string {
  if (value === null) return "comment";
  return WORDS[value] ?? `code ${value}`;
}

export function questionOf(criterion: string): string {
  if (criterion === DECISION) return "Which code does it have?";
  return criterion === "result" ? "Does it pass?" : `Does it pass “${criterion}”?`;
}

/** Returns `12 of 60 labelled, 3 to label twice`. */
export function progressText({ count, toLabelTwice, progress }: LabelSet): string {
  const done = progress.labelled + progress.skipped;
  const twice = Math.max(0, toLabelTwice - progress.doubled);
  const skipped = progress.skipped > 0 ? ` (${formatCount(progress.skipped)} skipped)` : "";
  const text = `${formatCount(done)} of ${formatCount(count)} labelled${skipped}`;
  return twice > 0 ? `${text}, ${formatCount(twice)} to label twice` : text;
}

/** A label that was given, and the label or comment that it replaced, for undoing it. */
export interface Given {
  readonly probeId: string;
  readonly before: Label | null;
}

export interface Queue {
  readonly items: readonly LabelSetItem[];
  readonly at: number;
  readonly given: readonly Given[];
}

export const EMPTY_QUEUE: Queue = { items: [], at: 0, given: [] };

export function currentItem(queue: Queue): LabelSetItem | undefined {
  return queue.items[queue.at];
}

/** Adds transcripts that the queue lacks at its end. */
export function withPending(queue: Queue, pending: readonly LabelSetItem[]): Queue {
  const added = lackedBy(queue, pending);
  if (added.length === 0) return queue;
  const next = { ...queue, items: [...queue.items, ...added] };
  // Where everything had a label, the first of the new ones is shown.
  return unlabelledCount(queue) > 0 ? next : { ...next, at: nextUnlabelled(next) ?? next.at };
}

/** Adds transcripts that were labelled earlier at its beginning, and shows the last of them. */
export function withEarlier(queue: Queue, earlier: readonly LabelSetItem[]): Queue {
  const added = lackedBy(queue, earlier);
  if (added.length === 0) return queue;
  return { ...queue, items: [...added, ...queue.items], at: added.length - 1 };
}

function lackedBy(queue: Queue, items: readonly LabelSetItem[]): readonly LabelSetItem[] {
  const known = new Set(queue.items.map((each) => each.probeId));
  return items.filter((each) => !known.has(each.probeId));
}

/** Stores a label, and shows the next transcript that has none. */
export function labelled(queue: Queue, probeId: string, label: Label): Queue {
  const before = queue.items.find((each) => each.probeId === probeId)?.label ?? null;
  const next = {
    ...withLabel(queue, probeId, label),
    given: [...queue.given, { probeId, before }],
  };
  return { ...next, at: nextUnlabelled(next) ?? next.at };
}

/** Stores a label in the place of another. */
export function withLabel(queue: Queue, probeId: string, label: Label | null): Queue {
  const items = queue.items.map((each) => (each.probeId === probeId ? { ...each, label } : each));
  return { ...queue, items };
}

/** Takes the last label back, and shows its transcript. */
export function undone(queue: Queue, label: Label | null): Queue {
  const last = queue.given.at(-1);
  if (last === undefined) return queue;
  const at = queue.items.findIndex((each) => each.probeId === last.probeId);
  return { ...withLabel(queue, last.probeId, label), at, given: queue.given.slice(0, -1) };
}

export function unlabelledCount(queue: Queue): number {
  return queue.items.filter((each) => !isVerdict(each.label)).length;
}

/** Returns the position of the next transcript without a label, from the present one on and then from the first. */
function nextUnlabelled({ items, at }: Queue): number | undefined {
  const order = [...items.keys()].map((step) => (at + step) % items.length);
  return order.find((position) => !isVerdict(items[position]?.label));
}
