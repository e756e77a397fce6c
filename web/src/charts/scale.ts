export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Smaller values beside 0, and smaller ranges beside their values, count as nothing. */
const SMALLEST = 1e-9;

/** Maps the values' range, widened to round ticks, to a range of pixels. */
export function linearScale(values: readonly number[], from: number, to: number, count = 5): Scale {
  const finite = values.filter(Number.isFinite);
  const [low, high] = finite.length > 0 ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
  const step = roundStep(span(low, high) / count);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  const ticks = Array.from({ length: last - first + 1 }, (_, number) =>
    rounded((first + number) * step, step),
  );
  const [min, max] = [first * step, last * step];
  return { at: (value) => from + ((value - min) / (max - min)) * (to - from), ticks };
}

/** Returns the values' range, or their own size if they hardly differ, so that no tick repeats for want of digits. */
function span(low: number, high: number): number {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  if (largest < SMALLEST) return 1;
  return high - low > largest * SMALLEST ? high - low : largest;
}

/** Returns 1, 2 or 5 times a power of ten, and not less than this. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return (([1, 2, 5] as const).find((each) => each * power >= least * 0.999) ?? 10) * power;
}

/** Removes the error of the multiplication, such as 0.30000000000000004. */
export function rounded(value: number, step: number): number {
  const digits = Math.max(0, Math.min(20, 1 - Math.floor(Math.log10(step))));
  return Number(value.toFixed(digits));
}

/**
 * Moves heights of texts down until none is within this many pixels of another, and up again where they would lie below
 * the bottom.
 */
export function apart(
  heights: readonly number[],
  least: number,
  bottom = Number.POSITIVE_INFINITY,
): number[] {
  const moved = [...heights];
  const order = moved.map((_, at) => at).sort((one, other) => (heights[one] ?? 0) - (heights[other] ?? 0));
  let next = Number.NEGATIVE_INFINITY;
  for (const at of order) {
    moved[at] = Math.max(moved[at] ?? 0, next);
    next = (moved[at] ?? 0) + least;
  }
  let lowest = bottom;
  for (const at of order.toReversed()) {
    moved[at] = Math.min(moved[at] ?? 0, lowest);
    lowest = (moved[at] ?? 0) - least;
  }
  return moved;
}
