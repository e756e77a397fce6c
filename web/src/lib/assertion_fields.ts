/** Reads the fields of an assertion by its type, as docs/assertions.md has them. */
import types from "./assertion_types.json";
import { assertionList, MAX_SET_DEPTH } from "./content_fields";
import type { Content } from "./definitions";
import {
  ANY_VALUE,
  type Control,
  either,
  type FieldSpec,
  fits,
  MAX_SCORE,
  prose,
  texts,
  values,
} from "./form_controls";
import { JUDGE_PARAMETERS } from "./parameter_fields";

export interface AssertionType {
  readonly type: string;
  readonly group: string;
  /** It is the form of its value; types without a value have none. */
  readonly value?: string;
  readonly help: string;
  readonly threshold?: number;
  readonly needsThreshold?: boolean;
  readonly isFraction?: boolean;
  readonly mayNotNegate?: boolean;
  readonly judge?: boolean;
  readonly embedder?: boolean;
  readonly config?: string;
}

export const ASSERTION_TYPES: readonly AssertionType[] = types;

export const ASSERTION_GROUPS: readonly (readonly [string, readonly AssertionType[]])[] = [
  ...new Set(ASSERTION_TYPES.map((each) => each.group)),
].map((group) => [group, ASSERTION_TYPES.filter((each) => each.group === group)]);

const NOT = "not-";
const OF_ALL_TURNS = new Set(["latency", "cost", "finish-reason", "assert-set", "select-best", "max-score"]);
/** They compare the answers of several targets. */
const COMPARISONS = new Set(["select-best", "max-score"]);

/** Splits a type into its name and whether it is negated. */
export function typeOf(assertion: Content): { name: string; isNegated: boolean } {
  const type = typeof assertion["type"] === "string" ? assertion["type"] : "";
  const isNegated = type.startsWith(NOT);
  return { name: isNegated ? type.slice(NOT.length) : type, isNegated };
}

/** Tells whether an assertion may have the type: sets are nested three deep, and contain no comparison of models. */
export function isOffered(type: AssertionType, depth: number): boolean {
  if (type.type === "assert-set") return depth < MAX_SET_DEPTH;
  return !COMPARISONS.has(type.type) || depth === 0;
}

export function assertionType(name: string): AssertionType | undefined {
  return ASSERTION_TYPES.find((each) => each.type === name);
}

/** Tells whether it checks one answer of the conversation. */
export function mayHaveTurn(name: string): boolean {
  return !OF_ALL_TURNS.has(name);
}

export function mayTransform(name: string): boolean {
  return mayHaveTurn(name) && !name.startsWith("trajectory:");
}

const NAME: Control = { kind: "text", max: 200 };
const JSON_VALUE: Control = { kind: "json", rows: 6 };
const NAMES = texts("name", 1_000, NAME);
const PATHS = texts("path", 1_000, NAME);
const COUNT: Control = { kind: "number", min: 0, max: 1_000_000, isWhole: true };
const AMOUNT = { kind: "number", min: 0, max: Number.MAX_SAFE_INTEGER } as const;
const SCORE = { kind: "number", min: -MAX_SCORE, max: MAX_SCORE } as const;
const TEMPLATE = prose(2, 20_000);
const MESSAGES: Control = {
  kind: "list",
  itemName: "message",
  max: 50,
  fresh: { role: "user", content: "" },
  item: {
    kind: "object",
    fields: [
      {
        name: "role",
        label: "Role",
        control: { kind: "choice", options: ["system", "user", "assistant"] },
        isRequired: true,
      },
      { name: "content", label: "Text", control: prose(3, 20_000), isRequired: true },
    ],
  },
};
const PAIR: readonly FieldSpec[] = [
  {
    name: "input",
    label: "Input",
    control: TEMPLATE,
    isRequired: true,
    note: "Such as {{sample.output_text}}",
  },
  {
    name: "reference",
    label: "Reference",
    control: TEMPLATE,
    isRequired: true,
    note: "Such as {{item.answer}}",
  },
];
const FUNCTION: FieldSpec = { name: "name", label: "Function", control: NAME };

const VALUES: Readonly<Record<string, Control>> = {
  text: { kind: "text", max: 200_000, rows: 2, mayBeNumber: true },
  any: ANY_VALUE,
  pattern: { kind: "text", max: 1_000, isCode: true },
  texts: either(["a list", texts("text", 1_000), [""]], ["text separated by commas", prose(2), ""]),
  references: either(["one text", prose(2), ""], ["a list of texts", texts("text", 1_000), [""]]),
  names: either(["a list", NAMES, [""]], ["text separated by commas", prose(1), ""]),
  schema: either(["JSON", JSON_VALUE, undefined], ["JSON as text", prose(6), ""]),
  elements: either(
    ["a list of paths", PATHS, [""]],
    ["text separated by commas", prose(1), ""],
    [
      "an object",
      {
        kind: "object",
        fields: [{ name: "requiredElements", label: "Required elements", control: PATHS, isRequired: true }],
      },
      { requiredElements: [""] },
    ],
  ),
  words: either(
    ["exactly", COUNT, undefined],
    [
      "within limits",
      {
        kind: "object",
        fields: [
          { name: "min", label: "Least words", control: COUNT },
          { name: "max", label: "Maximum words", control: COUNT },
        ],
      },
      {},
    ],
  ),
  rubric: either(["text", prose(4), ""], ["JSON", JSON_VALUE, {}]),
  number: { kind: "text", max: 200, mayBeNumber: true },
  choice: {
    kind: "object",
    fields: [
      {
        name: "target",
        label: "Right choices",
        control: either(["one letter", NAME, ""], ["a list of letters", texts("letter", 1_000, NAME), [""]]),
        isRequired: true,
      },
      {
        name: "choices",
        label: "Number of choices",
        control: { kind: "number", min: 1, max: 1_000, isWhole: true },
        isRequired: true,
      },
    ],
  },
  url: { kind: "text", max: 2_048, placeholder: "https://" },
  "string-check": {
    kind: "object",
    fields: [
      {
        name: "operation",
        label: "The input",
        control: { kind: "choice", options: ["eq", "ne", "like", "ilike"] },
        isRequired: true,
        note: "eq: equals the reference; ne: differs; like: contains it; ilike: contains it, ignoring case",
      },
      ...PAIR,
    ],
  },
  "text-similarity": {
    kind: "object",
    fields: [
      {
        name: "metric",
        label: "Measure",
        control: {
          kind: "choice",
          options: [
            "fuzzy_match",
            "bleu",
            "gleu",
            "meteor",
            "rouge_1",
            "rouge_2",
            "rouge_3",
            "rouge_4",
            "rouge_5",
            "rouge_l",
          ],
        },
        isRequired: true,
      },
      ...PAIR,
    ],
  },
  pair: { kind: "object", fields: PAIR },
  labels: {
    kind: "object",
    fields: [
      { name: "messages", label: "Messages for the judge", control: MESSAGES },
      { name: "labels", label: "Labels", control: texts("label", 100, NAME) },
      { name: "passingLabels", label: "Labels that pass", control: texts("label", 100, NAME) },
    ],
  },
  score: {
    kind: "object",
    fields: [
      { name: "messages", label: "Messages for the judge", control: MESSAGES },
      {
        name: "range",
        label: "Range of scores (optional)",
        control: {
          kind: "range",
          labels: ["Lowest score", "Highest score"],
          min: -MAX_SCORE,
          max: MAX_SCORE,
          placeholders: ["0", "1"],
        },
      },
      {
        name: "params",
        label: "Parameters of the judge (optional)",
        control: JUDGE_PARAMETERS,
      },
    ],
  },
  used: either(
    ["one function", NAME, ""],
    ["several functions", NAMES, [""]],
    [
      "a number of calls",
      {
        kind: "object",
        fields: [
          FUNCTION,
          { name: "min", label: "Least calls", control: COUNT },
          { name: "max", label: "Most calls", control: COUNT },
        ],
      },
      { name: "" },
    ],
  ),
  arguments: {
    kind: "object",
    fields: [
      FUNCTION,
      { name: "args", label: "Arguments", control: values("argument"), isRequired: true },
      {
        name: "mode",
        label: "Other arguments",
        control: { kind: "choice", options: ["partial", "exact"] },
        note: "partial: a call may have others; exact: only those of the defaults",
      },
      {
        name: "defaults",
        label: "Defaults (optional)",
        note: "Arguments that a call may have besides, with these values",
        control: values("default"),
      },
      {
        name: "ignore",
        label: "Arguments that are not compared",
        control: either(["a list", NAMES, [""]], ["one name", NAME, ""]),
      },
    ],
  },
  sequence: either(
    ["others may come between", NAMES, [""]],
    [
      "with a mode",
      {
        kind: "object",
        fields: [
          { name: "steps", label: "Functions in order", control: NAMES },
          {
            name: "mode",
            label: "Other calls",
            control: { kind: "choice", options: ["in_order", "exact"] },
            note: "in_order: others may come between; exact: no others",
          },
        ],
      },
      { steps: [""], mode: "exact" },
    ],
  ),
  aggregation: {
    kind: "object",
    fields: [
      {
        name: "method",
        label: "Scores are combined as",
        control: { kind: "choice", options: ["average", "sum"] },
      },
      {
        name: "weights",
        label: "Weights by assertion type (optional)",
        note: "1 for a type that is not listed",
        control: values("type"),
      },
      { name: "threshold", label: "Lowest score that is selected (optional)", control: SCORE },
    ],
  },
  steps: {
    kind: "object",
    fields: [
      { name: "min", label: "Least steps", control: COUNT },
      { name: "max", label: "Most steps", control: COUNT },
      {
        name: "type",
        label: "Only steps of the type",
        control: { kind: "choice", options: ["tool", "message"] },
      },
      { name: "name", label: "Only of the function (optional)", control: NAME },
    ],
  },
};

const FACTUALITY: readonly FieldSpec[] = ["subset", "superset", "agree", "disagree", "differButFactual"].map(
  (name) => ({ name, label: `Score of ${name}`, control: { kind: "number", min: 0, max: 1 } }),
);
const LOCATION: FieldSpec = {
  name: "location",
  label: "Where",
  control: { kind: "choice", options: ["begin", "end", "any", "exact"] },
  note: "At the end by default",
};
const CONFIGS: Readonly<Record<string, Control>> = {
  match: {
    kind: "object",
    fields: [
      LOCATION,
      { name: "ignoreCase", label: "Ignore case", control: JSON_VALUE },
      { name: "numeric", label: "Compare numbers", control: JSON_VALUE },
    ],
  },
  number: {
    kind: "object",
    fields: [
      LOCATION,
      {
        name: "tolerance",
        label: "Tolerance",
        note: "A number, or a share such as 5%",
        control: { kind: "text", max: 40, mayBeNumber: true },
      },
    ],
  },
  factuality: { kind: "object", fields: FACTUALITY },
  rubric: {
    kind: "object",
    fields: [
      {
        name: "rubricPrompt",
        label: "The judge's own prompt (optional)",
        note: "With {{output}}, {{rubric}} and the scenario's variables",
        control: either(
          ["text", prose(4, 20_000), ""],
          ["messages", MESSAGES, [{ role: "user", content: "" }]],
        ),
      },
    ],
  },
};

/** Returns the fields of a type that people set most, and those that they seldom set. */
export function assertionFields(
  type: AssertionType,
  depth: number,
): { main: FieldSpec[]; more: FieldSpec[] } {
  const { value, config } = type;
  const main: FieldSpec[] = [];
  if (value !== undefined) {
    main.push({
      name: "value",
      label: valueLabel(value),
      control: VALUES[value] ?? JSON_VALUE,
      isRequired: isText(value),
    });
  }
  if (type.type === "assert-set") {
    main.push({ name: "assert", label: "Assertions of the set", control: assertionList(depth + 1) });
  }
  if (hasThreshold(type)) main.push(thresholdField(type));
  const more: FieldSpec[] = [
    {
      name: "weight",
      label: "Weight",
      note: "1 by default; with 0 it is reported but decides nothing",
      control: { ...AMOUNT, placeholder: "1" },
    },
    { name: "metric", label: "Metric", note: "A name under which its score is also reported", control: NAME },
    { name: "tag", label: "Failure tag", note: "Instead of the type's own", control: NAME },
  ];
  if (type.judge || type.embedder) more.push(providerField(type));
  if (mayHaveTurn(type.type)) {
    more.push({
      name: "turn",
      label: "Turn",
      note: "Which answer it is about, from 1; the last, if empty",
      control: { kind: "number", min: 1, max: 100, isWhole: true },
    });
  }
  if (mayTransform(type.type)) {
    more.push({
      name: "transform",
      label: "Transform",
      note: "What it checks instead of the whole answer, such as JSON.parse(output).note",
      control: { kind: "text", max: 20_000, isCode: true },
    });
  }
  const configControl = config === undefined ? undefined : CONFIGS[config];
  if (configControl) more.push({ name: "config", label: "Configuration", control: configControl });
  return { main, more };
}

function isText(value: string): boolean {
  return VALUES[value]?.kind === "text";
}

function valueLabel(value: string): string {
  if (value === "pattern") return "Regular expression";
  if (value === "url") return "Address";
  if (value === "schema") return "JSON Schema (optional)";
  if (value === "elements") return "Required elements (optional)";
  if (value === "rubric") return "Rubric";
  return "Value";
}

function hasThreshold(type: AssertionType): boolean {
  return type.threshold !== undefined || type.needsThreshold === true || type.isFraction === true;
}

function thresholdField(type: AssertionType): FieldSpec {
  const placeholder = type.threshold === undefined ? "" : String(type.threshold);
  const note =
    type.threshold !== undefined
      ? `${type.threshold} by default`
      : type.needsThreshold
        ? undefined
        : "Without one, it decides pass or fail by itself";
  return {
    name: "threshold",
    label: type.needsThreshold ? "Threshold (required)" : "Threshold",
    ...(note !== undefined && { note }),
    control: { ...AMOUNT, ...(type.isFraction && { max: 1 }), placeholder },
  };
}

function providerField(type: AssertionType): FieldSpec {
  return {
    name: "provider",
    label: type.judge ? "Model that judges" : "Model of the embeddings",
    note: "As provider/name; that of the run, if empty",
    control: { kind: "text", max: 256, offers: "models" },
  };
}

/** Changes the type of an assertion. Fields that the type lacks or cannot show are left out; fields of no type stay. */
export function withType(assertion: Content, name: string, depth: number): Content {
  const { isNegated } = typeOf(assertion);
  const type = assertionType(name);
  if (type === undefined) return { ...assertion, type: name };
  const { main, more } = assertionFields(type, depth);
  const controls = new Map([...main, ...more].map((each) => [each.name, each.control]));
  const stays = ([field, value]: [string, unknown]) => {
    const control = controls.get(field);
    if (value === "" && control?.kind !== "text") return false;
    return control === undefined ? !TYPED.has(field) : fits(control, value) && isOfType(field, value, type);
  };
  const kept = Object.fromEntries(Object.entries(assertion).filter(stays));
  return {
    ...kept,
    ...(type.type === "assert-set" && !Array.isArray(kept["assert"]) && { assert: [] }),
    type: isNegated && !type.mayNotNegate ? `${NOT}${name}` : name,
  };
}

const TYPED = new Set(["value", "threshold", "provider", "turn", "transform", "assert", "config"]);

/** A limit in milliseconds is no share. */
function isOfType(field: string, value: unknown, type: AssertionType): boolean {
  if (field !== "threshold" || !type.isFraction) return field !== "config";
  return typeof value === "number" && value <= 1;
}

export function withNegation(assertion: Content, isNegated: boolean): Content {
  const { name } = typeOf(assertion);
  return { ...assertion, type: isNegated ? `${NOT}${name}` : name };
}

/** Returns a title such as `not-contains: refund`. */
export function assertionTitle(assertion: unknown): string {
  if (typeof assertion !== "object" || assertion === null) return "";
  const { type, value, metric } = assertion as Content;
  const text =
    (typeof value === "string" && value !== "") || typeof value === "number"
      ? `: ${String(value).slice(0, 60)}`
      : "";
  const name = typeof metric === "string" && metric !== "" ? ` (${metric.slice(0, 40)})` : "";
  return `${typeof type === "string" ? type : "no type"}${text}${name}`;
}
