import { rounded, roundStep } from "../charts/scale";
import type { Metric } from "./probes";
import type { Range } from "./ranges";

export interface Bins {
  /** The first bin also has smaller values, and the last has values beyond its width. */
  readonly starts: readonly number[];
  readonly width: number;
  /** It is true if the last bin has values that are further away than its width. */
  readonly isOpen: boolean;
}

const WANTED_BINS = 24;
/** The greatest of all values would squeeze the others together, so the last bin is open. */
const COVERED = 0.99;
const LEAST_WIDTH: Partial<Record<Metric, number>> = { tokens: 1, turns: 1 };
const SMALLEST = 1e-9;

export function makeBins(values: Float32Array, metric: Metric): Bins | null {
  const known = values.filter((each) => !Number.isNaN(each)).sort();
  if (known.length === 0) return null;
  const [least, most] = [known[0] ?? 0, known[known.length - 1] ?? 0];
  const covered = quantile(known, COVERED);
  const [low, high] = metric === "score" && least >= 0 && most <= 1 ? [0, 0.999] : [least, covered];
  const span = Math.max(high - low, Math.abs(high) * 1e-3, SMALLEST);
  const width = Math.max(roundStep(span / WANTED_BINS), LEAST_WIDTH[metric] ?? 0);
  const first = Math.floor(low / width + 1e-6);
  const last = Math.max(first, Math.floor(high / width + 1e-6));
  const starts = Array.from({ length: last - first + 1 }, (_, number) =>
    rounded((first + number) * width, width),
  );
  const end = Math.fround(rounded((last + 1) * width, width));
  return { starts, width, isOpen: most > end || (most === end && metric !== "score") };
}

/** Returns the least of the known, ordered values that at least this share does not exceed; NaN without a value. */
export function quantile(ordered: Float32Array, share: number): number {
  return ordered[Math.max(0, Math.ceil(share * ordered.length) - 1)] ?? Number.NaN;
}

export function binOf({ starts, width }: Bins, value: number): number {
  const guess = Math.floor((value - (starts[0] ?? 0)) / width);
  let bin = Math.max(0, Math.min(starts.length - 1, guess));
  while (bin > 0 && value < Math.fround(starts[bin] ?? 0)) bin--;
  while (bin < starts.length - 1 && value >= Math.fround(starts[bin + 1] ?? 0)) bin++;
  return bin;
}

export interface Distribution {
  readonly counts: readonly number[];
  readonly known: number;
  /** It is NaN without a known value; so are the following. */
  readonly median: number;
  readonly p5: number;
  readonly p95: number;
}

/** Returns the distribution of these probes' values, by column if there are several. */
export function distributions(
  bins: Bins,
  values: Float32Array,
  indexes: Int32Array,
  columnOf: (index: number) => number,
  columns: number,
): Distribution[] {
  const sizes = new Array<number>(columns).fill(0);
  for (const index of indexes) {
    const column = columnOf(index);
    if (!Number.isNaN(values[index])) sizes[column] = (sizes[column] ?? 0) + 1;
  }
  const found = sizes.map((size) => ({
    counts: new Array<number>(bins.starts.length).fill(0),
    known: new Float32Array(size),
    filled: 0,
  }));
  for (const index of indexes) {
    const value = values[index] ?? Number.NaN;
    const own = found[columnOf(index)];
    if (Number.isNaN(value) || own === undefined) continue;
    const bin = binOf(bins, value);
    own.counts[bin] = (own.counts[bin] ?? 0) + 1;
    own.known[own.filled++] = value;
  }
  return found.map(({ counts, known }) => {
    const ordered = known.sort();
    return {
      counts,
      known: ordered.length,
      median: quantile(ordered, 0.5),
      p5: quantile(ordered, 0.05),
      p95: quantile(ordered, 0.95),
    };
  });
}

/** Returns the range between two bins, both included; undefined if these are all. */
export function rangeOfBins({ starts }: Bins, first: number, last: number): Range | undefined {
  const from = first > 0 ? starts[first] : undefined;
  const below = last < starts.length - 1 ? starts[last + 1] : undefined;
  if (from === undefined && below === undefined) return undefined;
  return { ...(from !== undefined && { from }), ...(below !== undefined && { below }) };
}

/** Returns the first and last bin that a range touches. */
export function binsOfRange(bins: Bins, { from, below }: Range): readonly [number, number] {
  const first = from === undefined ? 0 : binOf(bins, Math.fround(from));
  if (below === undefined) return [first, bins.starts.length - 1];
  const next = bins.starts.findIndex((start) => Math.fround(start) >= Math.fround(below));
  return [first, Math.max(first, (next < 0 ? bins.starts.length : next) - 1)];
}
