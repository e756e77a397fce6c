/** Fields of forms as values of requests. */

/** Of numbers; a field of the generated `limits.ts` has them. */
export interface Bounds {
  readonly min: number;
  /** Undefined: as large as numbers can be. */
  readonly max?: number;
}

/** A whole number; null for an empty field, undefined for what is none within the bounds. */
export function parseWhole(text: string, bounds: Bounds): number | null | undefined {
  return parseNumber(text, bounds, /^\d{1,16}$/);
}

/** The same of a number that may have decimals. */
export function parseDecimal(text: string, bounds: Bounds): number | null | undefined {
  return parseNumber(text, bounds, /^(\d+(\.\d*)?|\.\d+)$/);
}

function parseNumber(text: string, { min, max = Number.MAX_SAFE_INTEGER }: Bounds, form: RegExp) {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const value = form.test(trimmed) ? Number(trimmed) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

/** What of a form differs from what is stored, as a request has it. */
export function changesOf<T extends object>(stored: Readonly<T>, wanted: Readonly<Partial<T>>): Partial<T> {
  const entries = Object.entries(wanted).filter(([name, value]) => stored[name as keyof T] !== value);
  return Object.fromEntries(entries) as Partial<T>;
}

/** Lines of the form `Name: value`; undefined if a line is none. */
export function parseHeaders(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(\S.*)$/.exec(line.trim());
    if (!match?.[1] || !match[2]) return undefined;
    headers[match[1]] = match[2];
  }
  return headers;
}

/** Words between commas, each once. */
export function parseTags(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ""))];
}

/** Lines with words, without the space around them. */
export function parseLines(text: string): string[] {
  return text.split("\n").flatMap((line) => line.trim() || []);
}

/** A JSON object; an empty one for no text, undefined for what is none. */
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

/** What becomes of headers whose values only the API knows. */
export type HeadersChange =
  | { readonly kind: "keep" }
  | { readonly kind: "replace"; readonly text: string }
  | { readonly kind: "remove" };

/** As a request has them: left out to keep them, null to remove them; undefined while a line is wrong or none is there. */
export function headersInput(change: HeadersChange): { headers?: Record<string, string> | null } | undefined {
  if (change.kind === "keep") return {};
  if (change.kind === "remove") return { headers: null };
  const headers = parseHeaders(change.text);
  return headers === undefined || Object.keys(headers).length === 0 ? undefined : { headers };
}

/** What a refusal says of a field and of what is inside it. */
export function issuesOf<T extends { readonly field: string }>(issues: readonly T[], field: string): T[] {
  return issues.filter((each) => each.field === field || each.field.startsWith(`${field}.`));
}
