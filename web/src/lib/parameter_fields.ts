import { type Control, type FieldSpec, json, line, prose, whole } from "./form_controls";

const TOOL: Control = {
  kind: "object",
  fields: [
    { name: "name", label: "Name of the function", control: line(64), isRequired: true },
    { name: "description", label: "Description (optional)", control: prose(2, 10_000) },
    { name: "parameters", label: "JSON Schema of its arguments", control: json(6) },
    { name: "strict", label: "The provider enforces the schema, where it can", control: { kind: "flag" } },
  ],
};

/** They are all fields of the API's ModelParametersInput. */
export const PARAMETERS: readonly FieldSpec[] = [
  { name: "temperature", label: "Temperature", control: { kind: "number", min: 0, max: 2 } },
  { name: "topP", label: "Top p", control: { kind: "number", min: 0, max: 1 } },
  { name: "topK", label: "Top k", control: whole(1, 100_000) },
  { name: "maxOutputTokens", label: "Maximum output tokens", control: whole(1, 10_000_000) },
  { name: "seed", label: "Seed", control: whole(0, Number.MAX_SAFE_INTEGER) },
  { name: "frequencyPenalty", label: "Frequency penalty", control: { kind: "number", min: -2, max: 2 } },
  { name: "presencePenalty", label: "Presence penalty", control: { kind: "number", min: -2, max: 2 } },
  {
    name: "reasoningEffort",
    label: "Reasoning effort",
    control: { kind: "choice", options: ["none", "minimal", "low", "medium", "high", "xhigh"] },
  },
  { name: "keepReasoning", label: "Reasoning in the answer is part of it", control: { kind: "flag" } },
  {
    name: "extraBody",
    label: "Further fields of the request",
    control: json(),
    note: 'Only for custom providers: an object, such as {"min_p": 0.1}',
  },
  {
    name: "stop",
    label: "Stop sequences",
    control: {
      kind: "list",
      item: prose(1, 1_000),
      itemName: "stop sequence",
      max: 16,
      fresh: "",
      isLeftOutEmpty: true,
    },
  },
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
        {
          name: "schema",
          label: "JSON Schema",
          control: json(),
          when: { field: "type", is: ["json_schema"] },
        },
        {
          name: "name",
          label: "Name of the schema (optional)",
          control: line(64),
          when: { field: "type", is: ["json_schema"] },
        },
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
      isLeftOutEmpty: true,
    },
  },
  {
    name: "toolChoice",
    label: "Tool choice",
    control: {
      kind: "variants",
      label: "Tool choice by",
      variants: [
        {
          label: "a rule",
          control: { kind: "choice", options: ["auto", "none", "required"] },
          fresh: undefined,
        },
        {
          label: "the name of a function",
          control: {
            kind: "object",
            fields: [{ name: "name", label: "Function", control: line(64), isRequired: true }],
          },
          fresh: { name: "" },
        },
      ],
    },
  },
  { name: "maxToolRounds", label: "Maximum rounds of calls", control: whole(0, 100) },
  { name: "toolConnectorId", label: "Id of the connector that executes calls", control: line(100) },
];

/** They are merged with those of others: null removes a parameter that another layer sets. */
export const MODEL_PARAMETERS: Extract<Control, { kind: "object" }> = {
  kind: "object",
  fields: PARAMETERS,
  layout: "columns",
  mayRestore: true,
};

const OF_JUDGES = new Set(["maxOutputTokens", "temperature", "topP", "seed", "reasoningEffort"]);

/** An assertion's judge has no other parameters to remove. */
export const JUDGE_PARAMETERS: Control = {
  kind: "object",
  fields: PARAMETERS.filter((each) => OF_JUDGES.has(each.name)),
  layout: "columns",
  isFolded: true,
};

/** These are the targets of later runs; a new one has a model. */
export const TARGETS: FieldSpec = {
  name: "targets",
  label: "Targets",
  control: {
    kind: "list",
    item: {
      kind: "object",
      fields: [
        { name: "model", label: "Model", control: { kind: "text", max: 256, offers: "models" } },
        {
          name: "connectorId",
          label: "Id of a connector",
          control: line(100),
          when: { field: "model", is: [undefined] },
        },
        { name: "label", label: "Label (optional)", control: line(100) },
        { name: "maxAttempts", label: "Attempts of a call (optional)", control: whole(1, 10) },
        {
          name: "callTimeoutSeconds",
          label: "Timeout of a call in seconds (optional)",
          control: { kind: "number", min: 1, max: 900 },
        },
        { name: "params", label: "Parameters (optional)", control: { ...MODEL_PARAMETERS, isFolded: true } },
      ],
      layout: "columns",
    },
    itemName: "target",
    max: 100,
    fresh: {},
  },
};
