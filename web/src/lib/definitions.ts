export type Content = Readonly<Record<string, unknown>>;

export interface FieldChange {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Returns the fields that differ as texts, in the order in which they are shown. Neither content may have null for an
 * absent field.
 */
export function changedFields(before: Content, after: Content): FieldChange[] {
  const fields = FIELDS.filter((field) => field in before || field in after);
  const others = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !FIELDS.includes(field),
  );
  return [...fields, ...others.sort()]
    .map((field) => ({ field, before: exactText(before[field]), after: exactText(after[field]) }))
    .filter((change) => change.before !== change.after);
}

export function isContent(value: unknown): value is Content {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the fields that a change of the content sets; null for those that it removes. */
export function contentChanges(before: Content, after: Content): Content {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  return Object.fromEntries(changed.map((field) => [field, after[field] ?? null]));
}

const FIELDS = [
  "system",
  "template",
  "prompts",
  "dimensions",
  "matchingRules",
  "followUps",
  "maxTurns",
  "params",
  "toolResults",
  "decision",
  "assertions",
  "derivedMetrics",
];

const NAMES: Readonly<Record<string, string>> = {
  system: "System prompt",
  template: "Template",
  prompts: "Prompts",
  dimensions: "Dimensions",
  matchingRules: "Matching rules",
  followUps: "Follow-ups",
  maxTurns: "Maximum turns",
  params: "Parameters",
  toolResults: "Results of tools",
  decision: "Decision rule",
  assertions: "Assertions",
  derivedMetrics: "Derived metrics",
};

export function fieldName(field: string): string {
  return NAMES[field] ?? field;
}

/**
 * Returns nothing for a field that is absent or empty, and JSON with sorted keys and without null for objects, so that
 * neither is a change.
 */
export function asText(value: unknown): string {
  return textOf(value, sortedWithoutNull);
}

/** Does the same but keeps null, for contents without null where a field is absent. */
export function exactText(value: unknown): string {
  return textOf(value, sorted);
}

function textOf(value: unknown, replacer: (name: string, value: unknown) => unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.length === 0) return "";
  if (typeof value === "object" && Object.keys(value).length === 0) return "";
  return JSON.stringify(value, replacer, 2);
}

function sorted(_: string, value: unknown): unknown {
  if (!isContent(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function sortedWithoutNull(name: string, value: unknown): unknown {
  if (!isContent(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return sorted(name, Object.fromEntries(entries));
}

export interface Piece {
  readonly text: string;
  readonly isPlaceholder: boolean;
}

/** Splits a template at the placeholders that its dimensions fill. */
export function pieces(template: string, dimensions: readonly string[]): Piece[] {
  const placeholders = new Set(dimensions.map((name) => `[${name}]`));
  return template
    .split(/(\[[^[\]\n]{1,100}\])/)
    .filter((text) => text !== "")
    .map((text) => ({ text, isPlaceholder: placeholders.has(text) }));
}

/** Counts the scenarios of the levels before rules leave some out. */
export function combinations(dimensions: readonly { levels: readonly unknown[] }[]): number {
  return dimensions.reduce((product, dimension) => product * dimension.levels.length, 1);
}
