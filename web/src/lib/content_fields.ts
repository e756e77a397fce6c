/** The parts of a definition's content as controls of a form, and how a change of one changes the content. */
import { type Content, isContent } from "./definitions";

export type Control =
  | {
      readonly kind: "text";
      readonly max: number;
      /** Of a text of several lines. */
      readonly rows?: number;
      readonly isCode?: boolean;
      /** What is offered; others may be typed. */
      readonly offers?: "dimensions" | "models";
      /** Shown as it is until it is typed over. */
      readonly mayBeNumber?: boolean;
      readonly placeholder?: string;
    }
  | {
      readonly kind: "number";
      readonly min: number;
      readonly max: number;
      readonly isWhole?: boolean;
      readonly placeholder?: string;
    }
  | { readonly kind: "choice"; readonly options: readonly string[] }
  | { readonly kind: "flag" }
  | { readonly kind: "json"; readonly rows?: number }
  | {
      readonly kind: "list";
      readonly item: Control;
      /** Of one item, such as "level". */
      readonly itemName: string;
      readonly max: number;
      /** A new item. */
      readonly fresh: unknown;
      /** Its items are folded. */
      readonly isFolded?: boolean;
    }
  | { readonly kind: "object"; readonly fields: readonly FieldSpec[]; readonly isRow?: boolean }
  | { readonly kind: "variants"; readonly variants: readonly Variant[] }
  | { readonly kind: "assertion"; readonly depth: number };

/** One of several forms that a value may have. */
export interface Variant {
  readonly label: string;
  readonly control: Control;
  readonly fresh: unknown;
}

export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly control: Control;
  readonly note?: string;
  /** An empty text stays one. */
  readonly isRequired?: boolean;
}

/** A part of the content with a heading of its own. */
export interface Part extends FieldSpec {
  /** Seldom used: folded unless it is set. */
  readonly isRare?: boolean;
}

const LONG = 200_000;
const line = (max: number): Control => ({ kind: "text", max });
export const prose = (rows: number, max = LONG): Control => ({ kind: "text", max, rows });
const json = (rows = 4): Control => ({ kind: "json", rows });
const whole = (min: number, max: number): Control => ({ kind: "number", min, max, isWhole: true });
export const texts = (itemName: string, max: number, item: Control = prose(2)): Control => ({
  kind: "list",
  item,
  itemName,
  max,
  fresh: "",
});
const MAX_SCORE = 1_000_000_000;

const LEVEL: Control = {
  kind: "object",
  isRow: true,
  fields: [
    {
      name: "score",
      label: "Score",
      control: { kind: "number", min: -MAX_SCORE, max: MAX_SCORE },
      isRequired: true,
    },
    { name: "label", label: "Label", control: line(500), isRequired: true },
    { name: "description", label: "Description (optional)", control: prose(1, 5_000) },
    {
      name: "options",
      label: "Texts for the placeholder",
      note: "The label, if there are none",
      control: texts("text", 1_000),
    },
  ],
};

const DIMENSIONS: Control = {
  kind: "list",
  itemName: "dimension",
  max: 100,
  fresh: { name: "", levels: [{ score: 1, label: "" }] },
  item: {
    kind: "object",
    fields: [
      {
        name: "name",
        label: "Name of the dimension",
        control: line(100),
        isRequired: true,
        note: "The template has it in brackets",
      },
      {
        name: "levels",
        label: "Levels",
        control: {
          kind: "list",
          item: LEVEL,
          itemName: "level",
          max: 1_000,
          fresh: { score: 1, label: "" },
        },
      },
    ],
  },
};

const DECISION: Control = {
  kind: "object",
  fields: [
    {
      name: "pattern",
      label: "Decision pattern",
      control: { kind: "text", max: 1_000, isCode: true },
      note: "A regular expression, as in Python; its first group is the decision, 1 to 5",
    },
    {
      name: "rubric",
      label: "Rubric for the judge",
      control: prose(4),
      note: "Such as: 1 = refused, 5 = granted",
    },
    {
      name: "judgeModel",
      label: "Judge",
      control: { kind: "text", max: 256, offers: "models", placeholder: "the run’s judge" },
      note: "A model as provider/name, which writes decision texts and decides by the rubric",
    },
    {
      name: "favors",
      label: "A decision between two dimensions",
      control: {
        kind: "object",
        fields: [
          {
            name: "1",
            label: "Dimension that 1 and 2 favor",
            control: { kind: "text", max: 200, offers: "dimensions" },
          },
          {
            name: "5",
            label: "Dimension that 4 and 5 favor",
            control: { kind: "text", max: 200, offers: "dimensions" },
          },
        ],
      },
    },
  ],
};

const TOOL: Control = {
  kind: "object",
  fields: [
    { name: "name", label: "Name of the function", control: line(64), isRequired: true },
    { name: "description", label: "Description (optional)", control: prose(2, 10_000) },
    { name: "parameters", label: "JSON Schema of its arguments", control: json(6) },
    { name: "strict", label: "The provider enforces the schema, where it can", control: { kind: "flag" } },
  ],
};

const PARAMS: Control = {
  kind: "object",
  fields: [
    { name: "temperature", label: "Temperature", control: { kind: "number", min: 0, max: 2 } },
    { name: "topP", label: "Top p", control: { kind: "number", min: 0, max: 1 } },
    { name: "topK", label: "Top k", control: whole(1, 100_000) },
    { name: "maxOutputTokens", label: "Output tokens at most", control: whole(1, 10_000_000) },
    { name: "seed", label: "Seed", control: whole(0, Number.MAX_SAFE_INTEGER) },
    { name: "frequencyPenalty", label: "Frequency penalty", control: { kind: "number", min: -2, max: 2 } },
    { name: "presencePenalty", label: "Presence penalty", control: { kind: "number", min: -2, max: 2 } },
    {
      name: "reasoningEffort",
      label: "Reasoning effort",
      control: { kind: "choice", options: ["none", "minimal", "low", "medium", "high", "xhigh"] },
    },
    { name: "stop", label: "Texts that end the answer", control: texts("text", 16, prose(1, 1_000)) },
    {
      name: "responseFormat",
      label: "Format of the answer",
      control: {
        kind: "object",
        fields: [
          {
            name: "type",
            label: "Format",
            control: { kind: "choice", options: ["text", "json", "json_schema"] },
          },
          { name: "schema", label: "JSON Schema, of json_schema only", control: json() },
          { name: "name", label: "Name of the schema (optional)", control: line(64) },
        ],
      },
    },
    {
      name: "tools",
      label: "Functions that the model may call",
      control: {
        kind: "list",
        item: TOOL,
        itemName: "function",
        max: 128,
        fresh: { name: "", parameters: {} },
        isFolded: true,
      },
    },
    {
      name: "toolChoice",
      label: "Whether it must call one",
      control: {
        kind: "variants",
        variants: [
          {
            label: "a rule",
            control: { kind: "choice", options: ["auto", "none", "required"] },
            fresh: undefined,
          },
          {
            label: "a function by its name",
            control: {
              kind: "object",
              fields: [{ name: "name", label: "Function", control: line(64), isRequired: true }],
            },
            fresh: { name: "" },
          },
        ],
      },
    },
    { name: "maxToolRounds", label: "Rounds of calls at most", control: whole(0, 100) },
    { name: "toolConnectorId", label: "Id of the connector that executes calls", control: line(100) },
  ],
};

export const MESSAGE: Control = {
  kind: "object",
  fields: [
    {
      name: "role",
      label: "Role",
      control: { kind: "choice", options: ["system", "user", "assistant", "tool"] },
      isRequired: true,
    },
    {
      name: "content",
      label: "Text",
      isRequired: true,
      control: {
        kind: "variants",
        variants: [
          { label: "text", control: prose(3), fresh: "" },
          { label: "parts, as JSON", control: json(), fresh: [] },
        ],
      },
    },
  ],
};

export const MESSAGES: Control = {
  kind: "list",
  item: MESSAGE,
  itemName: "message",
  max: 200,
  fresh: { role: "user", content: "" },
  isFolded: true,
};

const PROMPT: Control = {
  kind: "object",
  fields: [
    { name: "id", label: "Id", control: line(64), isRequired: true, note: "Letters, digits, . _ and -" },
    { name: "label", label: "Name (optional)", control: line(100) },
    {
      name: "system",
      label: "System prompt (optional)",
      control: prose(4),
      note: "Instead of the definition's",
    },
    {
      name: "template",
      label: "User message (optional)",
      control: prose(4),
      note: "[message] is the scenario's last user message; at most one of this and messages",
    },
    {
      name: "messages",
      label: "Messages (optional)",
      control: MESSAGES,
    },
    { name: "params", label: "Parameters (optional), as JSON", control: json() },
  ],
};

export const TOOL_RESULT: Control = {
  kind: "object",
  fields: [
    { name: "name", label: "Name of the function", control: line(64), isRequired: true },
    {
      name: "arguments",
      label: "Only of calls with these arguments (optional), as JSON",
      control: json(),
    },
    {
      name: "result",
      label: "Result",
      control: {
        kind: "variants",
        variants: [
          { label: "text", control: prose(3), fresh: "" },
          { label: "JSON", control: json(), fresh: {} },
        ],
      },
    },
    {
      name: "error",
      label: "Error, instead of a result",
      control: prose(2, 10_000),
    },
    {
      name: "times",
      label: "How many calls of a conversation it answers",
      note: "All, if empty",
      control: whole(1, 100),
    },
  ],
};

const RULE: Control = {
  kind: "object",
  fields: [
    {
      name: "exclude",
      label: "Leave out combinations with, as JSON",
      control: json(2),
      note: 'Such as {"delay": 1, "mood": [4, 5]}',
    },
    { name: "when", label: "Of combinations with, as JSON", control: json(2) },
    { name: "only", label: "keep only those with, as JSON", control: json(2) },
  ],
};

const METRIC: Control = {
  kind: "object",
  fields: [
    { name: "name", label: "Name", control: line(200), isRequired: true },
    {
      name: "value",
      label: "Expression",
      control: { kind: "text", max: 500, isCode: true },
      isRequired: true,
      note: "Such as tp / (tp + fn)",
    },
  ],
};

export const MAX_SET_DEPTH = 3;
export const NEW_ASSERTION = { type: "contains", value: "" };

/** A list of assertions; those of sets are lists as well. */
export function assertionList(depth: number): Control {
  return {
    kind: "list",
    item: { kind: "assertion", depth },
    itemName: "assertion",
    max: 100,
    fresh: NEW_ASSERTION,
    isFolded: true,
  };
}

/** In the order in which they are edited. */
export const PARTS: readonly Part[] = [
  { name: "system", label: "System prompt", control: prose(6) },
  {
    name: "template",
    label: "Template",
    control: prose(6),
    note: "The first message of scenarios that are generated, with a [placeholder] for each dimension",
  },
  { name: "dimensions", label: "Dimensions", control: DIMENSIONS },
  { name: "decision", label: "Decision rule", control: DECISION },
  {
    name: "followUps",
    label: "Follow-ups",
    control: texts("message", 99),
    note: "User messages after the first answer, in order",
  },
  {
    name: "maxTurns",
    label: "Maximum turns",
    control: whole(1, 100),
    note: "Answers of the target per conversation; success and failure criteria, which end one, belong to scenarios",
  },
  {
    name: "assertions",
    label: "Assertions",
    control: assertionList(0),
    note: "Checks of every scenario, in addition to its own",
  },
  {
    name: "prompts",
    label: "Prompts",
    isRare: true,
    control: {
      kind: "list",
      item: PROMPT,
      itemName: "prompt",
      max: 100,
      fresh: { id: "", template: "" },
      isFolded: true,
    },
    note: "Ways to ask: a run has each scenario with each of them",
  },
  {
    name: "params",
    label: "Parameters",
    control: PARAMS,
    isRare: true,
    note: "Defaults of the targets; one of null restores the provider's own",
  },
  {
    name: "matchingRules",
    label: "Matching rules",
    isRare: true,
    control: {
      kind: "list",
      item: RULE,
      itemName: "rule",
      max: 1_000,
      fresh: { exclude: {} },
      isFolded: true,
    },
    note: "Which combinations of levels scenarios are generated from",
  },
  {
    name: "toolResults",
    label: "Results of tools",
    isRare: true,
    control: {
      kind: "list",
      item: TOOL_RESULT,
      itemName: "result",
      max: 100,
      fresh: { name: "", result: "" },
      isFolded: true,
    },
    note: "What calls of functions return instead of being executed; the first that matches a call answers it",
  },
  {
    name: "derivedMetrics",
    label: "Derived metrics",
    isRare: true,
    control: {
      kind: "list",
      item: METRIC,
      itemName: "metric",
      max: 50,
      fresh: { name: "", value: "" },
      isFolded: true,
    },
    note: "Computed for each target from the sums of the metrics of its results",
  },
];

/** Whether the control can show all of the value; another value is edited as JSON. */
export function fits(control: Control, value: unknown): boolean {
  if (value === undefined) return true;
  switch (control.kind) {
    case "text":
      return typeof value === "string" || (control.mayBeNumber === true && typeof value === "number");
    case "number":
      return typeof value === "number" || typeof value === "string";
    case "choice":
      return typeof value === "string";
    case "flag":
      return typeof value === "boolean";
    case "json":
      return true;
    case "list":
      return Array.isArray(value);
    case "object":
    case "assertion":
      return isContent(value);
    case "variants":
      return variantOf(control.variants, value) !== undefined;
  }
}

/** The first variant that can show the value. */
export function variantOf(variants: readonly Variant[], value: unknown): Variant | undefined {
  return variants.find((each) => fits(each.control, value));
}

/** What was typed into a field of numbers: what is no number stays as it is, for the API to refuse. */
export function numberOf(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(trimmed) ? Number(trimmed) : Number.NaN;
  return Number.isFinite(value) ? value : text;
}

export function numberError(
  control: Extract<Control, { kind: "number" }>,
  value: unknown,
): string | undefined {
  if (value === undefined) return undefined;
  const { min, max, isWhole } = control;
  const number = typeof value === "string" ? numberOf(value) : value;
  const isRight =
    typeof number === "number" && number >= min && number <= max && (!isWhole || Number.isInteger(number));
  if (isRight) return undefined;
  const kind = isWhole ? "A whole number" : "A number";
  const isBounded = max < MAX_SCORE || isWhole;
  return isBounded ? `${kind} from ${min.toLocaleString("en")} to ${max.toLocaleString("en")}` : kind;
}

/** Objects that are left out once they have no field. */
const LEFT_OUT =
  /^(decision|decision\.favors|params|params\.responseFormat|assertions(\.\d+(\.assert)?)+\.config)$/;

/** The content with another value at a path such as `dimensions.0.name`; undefined removes the field. Nothing else
 * changes. */
export function changedAt(content: Content, path: string, value: unknown): Content {
  return changedIn(content, path.split("."), "", value) as Content;
}

function changedIn(container: unknown, steps: readonly string[], at: string, value: unknown): unknown {
  const [step = "", ...rest] = steps;
  const below = at === "" ? step : `${at}.${step}`;
  if (Array.isArray(container)) {
    return container.map((each, index) =>
      String(index) !== step ? each : rest.length === 0 ? value : changedIn(each, rest, below, value),
    );
  }
  const object = isContent(container) ? container : {};
  const old = Object.hasOwn(object, step) ? object[step] : undefined;
  const changed = rest.length === 0 ? value : changedIn(old, rest, below, value);
  if (changed === undefined || (LEFT_OUT.test(below) && isContent(changed) && isEmpty(changed))) {
    return Object.fromEntries(Object.entries(object).filter(([name]) => name !== step));
  }
  return { ...object, [step]: changed };
}

function isEmpty(object: Content): boolean {
  return Object.keys(object).length === 0;
}

export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const step of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Content)[step];
  }
  return found;
}

/** What an object has besides the fields of its form. */
export function otherFields(value: unknown, fields: readonly { readonly name: string }[]): Content {
  if (!isContent(value)) return {};
  const known = new Set(fields.map((each) => each.name));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !known.has(name)));
}

/** The object with these fields instead of its other ones. */
export function withOthers(
  value: unknown,
  fields: readonly { readonly name: string }[],
  others: Content,
): Content {
  const known = new Set(fields.map((each) => each.name));
  const entries = Object.entries(isContent(value) ? value : {}).filter(([name]) => known.has(name));
  const added = Object.entries(others).filter(([name]) => !known.has(name));
  return Object.fromEntries([...entries, ...added]);
}

/** The list with its item `from` at the place `to`. */
export function moved<T>(items: readonly T[], from: number, to: number): T[] {
  const rest = items.filter((_, index) => index !== from);
  return [...rest.slice(0, to), ...items.slice(from, from + 1), ...rest.slice(to)];
}

export interface Issue {
  readonly field: string;
  readonly message: string;
}

/** What the API has refused, as far as it was not changed since. */
export function currentIssues(issues: readonly Issue[], refused: Content, content: Content): Issue[] {
  return issues.filter((each) => {
    const path = each.field;
    return path === "" || JSON.stringify(valueAt(refused, path)) === JSON.stringify(valueAt(content, path));
  });
}

/** Those of a path that none of its fields shows. */
export function ownIssues(issues: readonly Issue[], path: string, shown: readonly string[]): Issue[] {
  return issues.filter(({ field }) => {
    if (field === path) return true;
    if (!field.startsWith(`${path}.`)) return false;
    return !shown.includes(field.slice(path.length + 1).split(".")[0] ?? "");
  });
}

/** A stored content without the fields that are null because they are absent. Where null is a value, as in the
 * parameters and in assertions, it stays. */
export function presentContent(content: object): Content {
  const present = withoutNull(content as Content);
  const each = (name: string, change: (item: Content) => Content) =>
    Array.isArray(present[name])
      ? { [name]: present[name].map((item) => (isContent(item) ? change(item) : item)) }
      : {};
  const decision = present["decision"];
  return {
    ...present,
    ...each("dimensions", (item) => ({
      ...item,
      ...(Array.isArray(item["levels"]) && {
        levels: item["levels"].map((level) => (isContent(level) ? presentLevel(level) : level)),
      }),
    })),
    ...each("prompts", presentPrompt),
    ...each("toolResults", (item) =>
      item["error"] === null || item["error"] === undefined
        ? { ...withoutNull(item), ...("result" in item && { result: item["result"] }) }
        : withoutNull(item),
    ),
    ...(isContent(decision) && { decision: withoutNull(decision) }),
  };
}

function presentLevel(level: Content): Content {
  const { options, ...rest } = withoutNull(level);
  const isNone = options === undefined || (Array.isArray(options) && options.length === 0);
  return isNone ? rest : { ...rest, options };
}

function presentPrompt(prompt: Content): Content {
  const { messages } = prompt;
  return {
    ...withoutNull(prompt),
    ...(Array.isArray(messages) && {
      messages: messages.map((each) => (isContent(each) ? withoutNull(each) : each)),
    }),
  };
}

function withoutNull(object: Content): Content {
  return Object.fromEntries(Object.entries(object).filter(([, each]) => each !== null && each !== undefined));
}
