import type { Content } from "./definitions";

export interface PreviewLevel {
  readonly label: string;
  /** They may replace the placeholder. */
  readonly phrases: readonly string[];
}

export interface PreviewDimension {
  readonly name: string;
  readonly levels: readonly PreviewLevel[];
}

const PLACEHOLDER = /(\\?)\[([\p{L}\p{Nl}\p{No}][\p{L}\p{N}_ -]{0,99})\]/gu;

export function normalizeName(name: string): string {
  const spaced = name.replaceAll(/[\s_-]+/g, " ").trim();
  return Array.from(spaced, withoutCase).join("");
}

/** Folds the case of one character as Python does: `ẞ` and `SS` are equal, `ı` and `i` are not. */
function withoutCase(character: string): string {
  return character === "ı" ? character : character.toLowerCase().toUpperCase().toLowerCase();
}

/** Returns the names in brackets as they are written, each once. */
export function placeholderNames(template: string): string[] {
  const names = new Map<string, string>();
  for (const [, backslash, name = ""] of template.matchAll(PLACEHOLDER)) {
    const key = normalizeName(name);
    if (!backslash && !names.has(key)) names.set(key, name);
  }
  return [...names.values()];
}

/** Fills in `values` by normalized name; a placeholder without one stays as it is. */
export function renderTemplate(template: string, values: ReadonlyMap<string, string>): string {
  return template.replaceAll(PLACEHOLDER, (whole, backslash: string, name: string) =>
    backslash ? whole.slice(1) : (values.get(normalizeName(name)) ?? whole),
  );
}

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

export interface TemplateProblems {
  readonly unknown: readonly string[];
  readonly unused: readonly string[];
}

/** Returns placeholders and dimensions without a counterpart. */
export function templateProblems(content: Content): TemplateProblems {
  const template = typeof content["template"] === "string" ? content["template"] : null;
  if (template === null) return { unknown: [], unused: [] };
  const names = placeholderNames(template);
  const dimensions = dimensionsOf(content).map((each) => each.name);
  const known = new Set(dimensions.map(normalizeName));
  const used = new Set(names.map(normalizeName));
  return {
    unknown: names.filter((name) => !known.has(normalizeName(name))),
    unused: dimensions.filter((name) => !used.has(normalizeName(name))),
  };
}

export function withDimension(content: Content, name: string): Content {
  const dimensions = Array.isArray(content["dimensions"]) ? content["dimensions"] : [];
  return { ...content, dimensions: [...dimensions, { name, levels: [{ score: 1, label: "" }] }] };
}

/** Adds a placeholder at the end of the template. */
export function withPlaceholder(content: Content, name: string): Content {
  const template = typeof content["template"] === "string" ? content["template"] : "";
  return {
    ...content,
    template: `${template}${template === "" || /\s$/.test(template) ? "" : " "}[${name}]`,
  };
}

const MAX_ANSWERS = 50;

export function splitAnswers(text: string): string[] {
  const answers = text.split(/^---+[ \t]*$/m).map((each) => each.replace(/^\r?\n|\r?\n$/g, ""));
  return answers.filter((each) => each.trim() !== "").slice(0, MAX_ANSWERS);
}
