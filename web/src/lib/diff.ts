export type Side = "same" | "removed" | "added";
export interface Part {
  readonly side: Side;
  readonly text: string;
}

/** Above this many steps, the rest counts as replaced, so that the time is bounded for any texts. */
const MAX_STEPS = 1_000;

/** Finds the fewest removed and added tokens (Myers 1986), and joins neighbors of one side. */
export function diffTokens(before: readonly string[], after: readonly string[]): Part[] {
  const prefix = commonPrefix(before, after);
  const suffix = commonSuffix(before, after, prefix);
  const middle = myers(
    before.slice(prefix, before.length - suffix),
    after.slice(prefix, after.length - suffix),
  );
  return joined([...same(before.slice(0, prefix)), ...middle, ...same(before.slice(before.length - suffix))]);
}

export function diffWords(before: string, after: string): Part[] {
  return diffTokens(words(before), words(after));
}

export function diffLines(before: string, after: string): Part[] {
  return diffTokens(lines(before), lines(after));
}

/** Below this share of common text, words that happen to be equal are scattered among those that are not. */
const LEAST_COMMON = 0.5;

/** Marks the words that differ or, where little is common, whole sentences: the old ones before the new ones. */
export function diffTexts(before: string, after: string): { parts: Part[]; areSentences: boolean } {
  const parts = diffWords(before, after);
  if (commonShare(parts) >= LEAST_COMMON) return { parts, areSentences: false };
  return { parts: oldFirst(diffTokens(sentences(before), sentences(after))), areSentences: true };
}

/**
 * Returns how much of the shorter text is common, without white space; 1 for equal texts. A common word between others
 * that differ does not count.
 */
export function commonShare(parts: readonly Part[]): number {
  if (parts.every((each) => each.side === "same")) return 1;
  let [common, before, after] = [0, 0, 0];
  for (const { side, text } of parts) {
    const length = text.replace(/\s+/g, "").length;
    if (side !== "added") before += length;
    if (side !== "removed") after += length;
    if (side === "same" && (text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0) > 1) common += length;
  }
  const shorter = Math.min(before, after);
  return shorter === 0 ? 1 : common / shorter;
}

/** Moves what was removed before what was added, between two common parts. */
function oldFirst(parts: readonly Part[]): Part[] {
  const sorted: Part[] = [];
  let added: Part[] = [];
  for (const part of parts) {
    if (part.side === "added") added.push(part);
    else if (part.side === "removed") sorted.push(part);
    else {
      sorted.push(...added, part);
      added = [];
    }
  }
  return joined([...sorted, ...added]);
}

/** Splits a text after the ends of sentences and of lines. */
function sentences(text: string): string[] {
  return text.match(/[^\n]*?(?:[.!?:]+["'”’)]*[^\S\n]+|\n+|$)/g)?.filter((each) => each !== "") ?? [];
}

function words(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

const same = (tokens: readonly string[]): Part[] => tokens.map((text) => ({ side: "same", text }));

function commonPrefix(before: readonly string[], after: readonly string[]): number {
  let length = 0;
  while (length < before.length && length < after.length && before[length] === after[length]) length++;
  return length;
}

function commonSuffix(before: readonly string[], after: readonly string[], prefix: number): number {
  let length = 0;
  const most = Math.min(before.length, after.length) - prefix;
  while (length < most && before[before.length - 1 - length] === after[after.length - 1 - length]) length++;
  return length;
}

/** `trace[step]` has how far each diagonal from -step - 1 to step + 1 was reached before this step. */
function myers(before: readonly string[], after: readonly string[]): Part[] {
  const most = Math.min(before.length + after.length, MAX_STEPS);
  const reached = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let step = 0; step <= most; step++) {
    const known = reached.slice(most - step, most + step + 3);
    trace.push(known);
    for (let diagonal = -step; diagonal <= step; diagonal += 2) {
      let x = start(known, diagonal, step);
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++;
      reached[most + 1 + diagonal] = x;
      if (x >= before.length && x - diagonal >= after.length) return walkedBack(trace, before, after);
    }
  }
  return [
    ...before.map((text): Part => ({ side: "removed", text })),
    ...after.map((text): Part => ({ side: "added", text })),
  ];
}

const at = (known: Int32Array, diagonal: number, step: number): number => known[diagonal + step + 1] ?? 0;

function goesDown(known: Int32Array, diagonal: number, step: number): boolean {
  if (diagonal === -step) return true;
  return diagonal !== step && at(known, diagonal - 1, step) < at(known, diagonal + 1, step);
}

function start(known: Int32Array, diagonal: number, step: number): number {
  return goesDown(known, diagonal, step) ? at(known, diagonal + 1, step) : at(known, diagonal - 1, step) + 1;
}

function walkedBack(
  trace: readonly Int32Array[],
  before: readonly string[],
  after: readonly string[],
): Part[] {
  const parts: Part[] = [];
  let [x, y] = [before.length, after.length];
  for (let step = trace.length - 1; step >= 0; step--) {
    const known = trace[step] as Int32Array;
    const diagonal = x - y;
    const isDown = goesDown(known, diagonal, step);
    const began = step === 0 ? 0 : start(known, diagonal, step);
    for (; x > began; y--) parts.push({ side: "same", text: before[--x] ?? "" });
    if (step === 0) break;
    if (isDown) parts.push({ side: "added", text: after[--y] ?? "" });
    else parts.push({ side: "removed", text: before[--x] ?? "" });
  }
  return parts.reverse();
}

function joined(parts: readonly Part[]): Part[] {
  const found: { side: Side; text: string }[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (last?.side === part.side) last.text += part.text;
    else found.push({ ...part });
  }
  return found;
}
