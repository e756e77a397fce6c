/** Parses a range of figures in an address: `0.2~0.5`, `~0.5` or `0.2~`. */

export interface Range {
  /** It is the least value; undefined without a bound. */
  readonly from?: number | undefined;
  /** Values are less than this. */
  readonly below?: number | undefined;
}

const NUMBER = /^\d+(\.\d+)?(e[-+]?\d+)?$/i;

/** Returns undefined for text that is no range of values from 0 on. */
export function parseRange(text: unknown): Range | undefined {
  if (typeof text !== "string") return undefined;
  const sides = text.split("~");
  const [from, below] = sides;
  if (sides.length !== 2 || from === undefined || below === undefined || text === "~") return undefined;
  if (![from, below].every((side) => side === "" || (NUMBER.test(side) && Number.isFinite(Number(side)))))
    return undefined;
  const range = {
    ...(from !== "" && { from: Number(from) }),
    ...(below !== "" && { below: Number(below) }),
  };
  return (range.from ?? -1) < (range.below ?? Number.POSITIVE_INFINITY) ? range : undefined;
}

export function rangeText({ from, below }: Range): string {
  return `${from ?? ""}~${below ?? ""}`;
}

/** Describes a range with figures as the page shows them. */
export function rangeWords({ from, below }: Range, format: (value: number) => string): string {
  if (from === undefined) return `below ${format(below ?? 0)}`;
  return below === undefined ? `from ${format(from)}` : `from ${format(from)} to below ${format(below)}`;
}
