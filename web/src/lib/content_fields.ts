import { type Content, isContent } from "./definitions";
import {
  type Control,
  type FieldSpec,
  json,
  line,
  MAX_SCORE,
  prose,
  texts,
  values,
  whole,
} from "./form_controls";
import { MESSAGES } from "./message_fields";
import { MODEL_PARAMETERS } from "./parameter_fields";

export interface Part extends FieldSpec {
  /** Parts that are seldom used are folded unless they are set. */
  readonly isRare?: boolean;
}

const LEVEL: Control = {
  kind: "object",
  layout: "row",
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
      control: { ...MESSAGES, isLeftOutEmpty: true },
    },
    {
      name: "params",
      label: "Parameters (optional)",
      control: { ...MODEL_PARAMETERS, isFolded: true },
      note: "They take precedence over those of the definition, the run and the target",
    },
  ],
};

export const TOOL_RESULT: Control = {
  kind: "object",
  fields: [
    { name: "name", label: "Name of the function", control: line(64), isRequired: true },
    {
      name: "arguments",
      label: "Only calls with these arguments (optional)",
      control: values("argument"),
      note: "A call may have other arguments as well; without any here, all calls",
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

const isExclusion = (rule: unknown) =>
  isContent(rule) && !Object.hasOwn(rule, "only") && !Object.hasOwn(rule, "when");

const RULE: Control = {
  kind: "variants",
  label: "What it does",
  variants: [
    {
      label: "leaves out combinations",
      isOf: isExclusion,
      fresh: { exclude: {} },
      control: {
        kind: "object",
        fields: [
          {
            name: "exclude",
            label: "Combinations to leave out",
            control: { kind: "scores" },
            isRequired: true,
            note: "Those with a chosen level of every dimension in which you choose one",
          },
        ],
      },
    },
    {
      label: "keeps only some combinations",
      isOf: (rule) => !isExclusion(rule),
      fresh: { only: {} },
      control: {
        kind: "object",
        fields: [
          {
            name: "when",
            label: "Combinations it applies to (optional)",
            control: { kind: "scores" },
            note: "All, if no level is chosen",
          },
          {
            name: "only",
            label: "Combinations to keep of these",
            control: { kind: "scores" },
            isRequired: true,
          },
        ],
      },
    },
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

/** Defines a list of assertions; those of sets are lists as well. */
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

/** They are in the order in which they are edited. */
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
    control: MODEL_PARAMETERS,
    isRare: true,
    note: "Defaults of the targets",
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

/** These objects are left out once they have no field. */
const LEFT_OUT =
  /^(decision|decision\.favors|((prompts|targets)\.\d+\.)?params(\.responseFormat)?|assertions(\.\d+(\.assert)?)+\.(config|value\.params))$/;

/**
 * Sets a value of the content at a path such as `dimensions.0.name`; undefined removes the field. Nothing else changes.
 */
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

/** Returns the fields of an object that its form does not have. */
export function otherFields(value: unknown, fields: readonly { readonly name: string }[]): Content {
  if (!isContent(value)) return {};
  const known = new Set(fields.map((each) => each.name));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !known.has(name)));
}

/** Replaces the other fields of the object by these. */
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

/** Moves the item `from` of a list to the place `to`. */
export function moved<T>(items: readonly T[], from: number, to: number): T[] {
  const rest = items.filter((_, index) => index !== from);
  return [...rest.slice(0, to), ...items.slice(from, from + 1), ...rest.slice(to)];
}

export interface Issue {
  readonly field: string;
  readonly message: string;
}

/** Returns the issues of a refusal whose values were not changed since. */
export function currentIssues(issues: readonly Issue[], refused: Content, content: Content): Issue[] {
  return issues.filter((each) => {
    const path = each.field;
    return path === "" || JSON.stringify(valueAt(refused, path)) === JSON.stringify(valueAt(content, path));
  });
}

/** Returns the issues of a path that none of its fields shows. */
export function ownIssues(issues: readonly Issue[], path: string, shown: readonly string[]): Issue[] {
  return issues.filter(({ field }) => {
    if (field === path) return true;
    if (!field.startsWith(`${path}.`)) return false;
    return !shown.includes(field.slice(path.length + 1).split(".")[0] ?? "");
  });
}

/**
 * Removes the fields of a stored content that are null because they are absent. Null stays where it is a value, as in
 * the parameters and in assertions.
 */
export function presentContent(content: object): Content {
  const present = withoutNull(content as Content);
  const each = (name: string, change: (item: Content) => Content) =>
    Array.isArray(present[name])
      ? { [name]: present[name].map((item) => (isContent(item) ? change(item) : item)) }
      : {};
  const { decision, params } = present;
  return {
    ...present,
    ...(isContent(params) && { params: presentParams(params) }),
    ...each("dimensions", (item) => ({
      ...item,
      ...(Array.isArray(item["levels"]) && {
        levels: item["levels"].map((level) => (isContent(level) ? presentLevel(level) : level)),
      }),
    })),
    ...each("prompts", presentPrompt),
    ...each("targets", ({ params: own, ...item }) => ({
      ...item,
      ...(own !== undefined && { params: isContent(own) ? presentParams(own) : own }),
    })),
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
  return options === undefined || isEmptyList(options) ? rest : { ...rest, options };
}

function presentPrompt(prompt: Content): Content {
  const { messages, params, ...rest } = withoutNull(prompt);
  return {
    ...rest,
    ...(isContent(params)
      ? !isEmpty(params) && { params: presentParams(params) }
      : params !== undefined && { params }),
    ...(messages !== undefined && { messages }),
    ...(Array.isArray(messages) && {
      messages: messages.map((each) => (isContent(each) ? presentMessage(each) : each)),
    }),
  };
}

/** Keeps parameters that are null; unset ones are absent. */
function presentParams(params: Content): Content {
  const { responseFormat, tools } = params;
  return {
    ...params,
    ...(isContent(responseFormat) && { responseFormat: withoutNull(responseFormat) }),
    ...(Array.isArray(tools) && { tools: presentItems(tools) }),
  };
}

function presentMessage(message: Content): Content {
  const { content, toolCalls, isError, ...rest } = withoutNull(message);
  return {
    ...rest,
    ...(content !== undefined && { content: Array.isArray(content) ? presentItems(content) : content }),
    ...(toolCalls !== undefined && !isEmptyList(toolCalls) && { toolCalls }),
    ...(isError !== undefined && isError !== false && { isError }),
  };
}

function presentItems(items: readonly unknown[]): unknown[] {
  return items.map((each) => (isContent(each) ? withoutNull(each) : each));
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function withoutNull(object: Content): Content {
  return Object.fromEntries(Object.entries(object).filter(([, each]) => each !== null && each !== undefined));
}
