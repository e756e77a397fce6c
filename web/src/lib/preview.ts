/** What a definition's template and decision pattern do, before they are saved. */
import type { Content } from "./definitions";

export interface PreviewLevel {
  readonly label: string;
  /** What may replace the placeholder. */
  readonly phrases: readonly string[];
}

export interface PreviewDimension {
  readonly name: string;
  readonly levels: readonly PreviewLevel[];
}

const PLACEHOLDER = /(\\?)\[([\p{L}\p{Nl}][\p{L}\p{N}_ -]{0,99})\]/gu;
const MAX_SEARCHED = 20_000;

/** Equal for a placeholder and its dimension. */
export function normalizeName(name: string): string {
  return name
    .replaceAll(/[\s_-]+/g, " ")
    .trim()
    .toLowerCase();
}

/** The names in brackets as they are written, each once. */
export function placeholderNames(template: string): string[] {
  const names = new Map<string, string>();
  for (const [, backslash, name = ""] of template.matchAll(PLACEHOLDER)) {
    const key = normalizeName(name);
    if (!backslash && !names.has(key)) names.set(key, name);
  }
  return [...names.values()];
}

/** `values` by normalized name; a placeholder without one stays as it is. */
export function renderTemplate(template: string, values: ReadonlyMap<string, string>): string {
  return template.replaceAll(PLACEHOLDER, (whole, backslash: string, name: string) =>
    backslash ? whole.slice(1) : (values.get(normalizeName(name)) ?? whole),
  );
}

/** The dimensions that are complete enough to be shown. */
export function dimensionsOf(content: Content): PreviewDimension[] {
  const dimensions = Array.isArray(content["dimensions"]) ? content["dimensions"] : [];
  return dimensions.filter(isNamed).map((each) => ({
    name: each["name"] as string,
    levels: (Array.isArray(each["levels"]) ? each["levels"] : []).filter(isRecord).map(levelOf),
  }));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isNamed(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && typeof value["name"] === "string";
}

function levelOf(level: Record<string, unknown>): PreviewLevel {
  const label = String(level["label"] ?? level["score"] ?? "");
  const options = Array.isArray(level["options"]) ? level["options"].map(String) : [];
  return { label, phrases: options.length > 0 ? options : [label] };
}

/** What does not fit between the template and the dimensions. */
export function templateProblems(content: Content): string[] {
  const template = typeof content["template"] === "string" ? content["template"] : null;
  if (template === null) return [];
  const names = placeholderNames(template);
  const dimensions = dimensionsOf(content);
  const known = new Set(dimensions.map((each) => normalizeName(each.name)));
  const used = new Set(names.map(normalizeName));
  return [
    ...names
      .filter((name) => !known.has(normalizeName(name)))
      .map((name) => `The placeholder [${name}] has no dimension with that name.`),
    ...dimensions
      .filter((each) => !used.has(normalizeName(each.name)))
      .map((each) => `The template has no placeholder [${each.name}].`),
  ];
}

export type Decision =
  | { readonly kind: "code"; readonly code: string; readonly found: string }
  | { readonly kind: "none" }
  /** The browser has no such expressions. */
  | { readonly kind: "untried" };

/** What the pattern reads from an answer: the first group of its last match, as one of five codes or "other". */
export function tryPattern(pattern: string, answer: string): Decision {
  const expression = expressionOf(pattern);
  if (expression === null) return { kind: "untried" };
  let last: RegExpMatchArray | undefined;
  for (const match of answer.slice(-MAX_SEARCHED).matchAll(expression)) last = match;
  if (last === undefined) return { kind: "none" };
  const group = (last[1] ?? "").trim();
  return { kind: "code", code: /^[1-5]$/.test(group) ? group : "other", found: last[0] };
}

/** Of a Python expression, as far as JavaScript has the same. */
function expressionOf(pattern: string): RegExp | null {
  const [, letters = ""] = /^\(\?([ims]+)\)/.exec(pattern) ?? [];
  const source = pattern.replace(/^\(\?[ims]+\)/, "").replaceAll("(?P<", "(?<");
  try {
    return new RegExp(source, `gu${[...new Set(letters)].join("")}`);
  } catch {
    return null;
  }
}
