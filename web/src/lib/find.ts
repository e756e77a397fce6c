export interface Match {
  readonly index: number;
  readonly start: number;
}

export interface Segment {
  readonly text: string;
  readonly isMatch: boolean;
}

/** More matches would take long to count and to walk. */
export const MAX_MATCHES = 10_000;

/** Finds the words in the texts, ignoring case, in order. */
export function findMatches(texts: readonly string[], words: string): Match[] {
  const matches: Match[] = [];
  if (words === "") return matches;
  const pattern = patternOf(words);
  for (const [index, text] of texts.entries()) {
    for (const found of text.matchAll(pattern)) {
      matches.push({ index, start: found.index });
      if (matches.length === MAX_MATCHES) return matches;
    }
  }
  return matches;
}

/** Splits the text into pieces, and marks those that have the words. */
export function segmentsOf(text: string, words: string): Segment[] {
  if (words === "") return [{ text, isMatch: false }];
  const segments: Segment[] = [];
  let end = 0;
  for (const found of text.matchAll(patternOf(words))) {
    if (found.index > end) segments.push({ text: text.slice(end, found.index), isMatch: false });
    segments.push({ text: found[0], isMatch: true });
    end = found.index + found[0].length;
  }
  if (end < text.length || segments.length === 0) segments.push({ text: text.slice(end), isMatch: false });
  return segments;
}

/** Returns the match after a position, wrapping around at both ends, or -1 for none. */
export function nextMatch(count: number, from: number, direction: 1 | -1): number {
  if (count === 0) return -1;
  return (((from + direction) % count) + count) % count;
}

function patternOf(words: string): RegExp {
  return new RegExp(words.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
}
