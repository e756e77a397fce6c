/** Reads fields of forms as values of requests. */

/** Limits a number; fields of the generated `limits.ts` have them. */
export interface Bounds {
  readonly min: number;
  /** Undefined stands for the largest whole number that is exact. */
  readonly max?: number;
}

/** Returns a whole number; null for an empty field, undefined for text that is none within the bounds. */
export function parseWhole(text: string, bounds: Bounds): number | null | undefined {
  return parseNumber(text, bounds, /^\d{1,16}$/);
}

/** Returns the same of a number that may have decimals. */
export function parseDecimal(text: string, bounds: Bounds): number | null | undefined {
  return parseNumber(text, bounds, /^(\d+(\.\d*)?|\.\d+)$/);
}

function parseNumber(text: string, { min, max = Number.MAX_SAFE_INTEGER }: Bounds, form: RegExp) {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const value = form.test(trimmed) ? Number(trimmed) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

/** Returns the fields of a form that differ from the stored ones, as a request has them. */
export function changesOf<T extends object>(stored: Readonly<T>, wanted: Readonly<Partial<T>>): Partial<T> {
  const entries = Object.entries(wanted).filter(([name, value]) => stored[name as keyof T] !== value);
  return Object.fromEntries(entries) as Partial<T>;
}

/** Parses lines of the form `Name: value`; returns undefined if a line is none. */
export function parseHeaders(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(\S.*)$/.exec(line.trim());
    if (!match?.[1] || !match[2]) return undefined;
    headers[match[1]] = match[2];
  }
  return headers;
}

/** Returns the words between commas, each once. */
export function parseTags(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ""))];
}

/** Returns the lines with words, without the space around them. */
export function parseLines(text: string): string[] {
  return text.split("\n").flatMap((line) => line.trim() || []);
}

/** Parses a JSON object; returns an empty one for no text, undefined for other text. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Describes the change of headers whose values only the API knows. */
export type HeadersChange =
  | { readonly kind: "keep" }
  | { readonly kind: "replace"; readonly text: string }
  | { readonly kind: "remove" };

/**
 * Returns headers for a request: left out to keep them, null to remove them; undefined while a line is wrong or none is
 * there.
 */
export function headersInput(change: HeadersChange): { headers?: Record<string, string> | null } | undefined {
  if (change.kind === "keep") return {};
  if (change.kind === "remove") return { headers: null };
  const headers = parseHeaders(change.text);
  return headers === undefined || Object.keys(headers).length === 0 ? undefined : { headers };
}

/** Returns the issues of a field and of its parts. */
export function issuesOf<T extends { readonly field: string }>(issues: readonly T[], field: string): T[] {
  return issues.filter((each) => each.field === field || each.field.startsWith(`${field}.`));
}

/** Returns how long a list of tags can be that is typed with commas. */
export function tagsLength({ maxItems, maxItemLength }: { maxItems: number; maxItemLength: number }): number {
  return maxItems * (maxItemLength + ", ".length);
}
