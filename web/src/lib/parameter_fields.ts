import { CreateEval, ModelParametersInput, ResponseFormatInput, TargetInput, ToolInput } from "../api/limits";
import { type Control, type FieldSpec, json, line, prose, whole } from "./form_controls";
import type { Bounds } from "./forms";

const parameter = ModelParametersInput;
const integer = ({ min, max }: Required<Bounds>) => whole(min, max);
const decimal = ({ min, max }: Required<Bounds>): Control => ({ kind: "number", min, max });
const choice = (options: readonly string[]): Control => ({ kind: "choice", options });

const TOOL: Control = {
  kind: "object",
  fields: [
    { name: "name", label: "Name of the function", control: line(64), isRequired: true },
    {
      name: "description",
      label: "Description (optional)",
      control: prose(2, ToolInput.description.maxLength),
    },
    { name: "parameters", label: "JSON Schema of its arguments", control: json(6) },
    { name: "strict", label: "The provider enforces the schema, where it can", control: { kind: "flag" } },
  ],
};

/** They are all fields of the API's ModelParametersInput. */
export const PARAMETERS: readonly FieldSpec[] = [
  { name: "temperature", label: "Temperature", control: decimal(parameter.temperature) },
  {
    name: "topP",
    label: "Top p",
    control: decimal({ min: parameter.topP.above, max: parameter.topP.max }),
  },
  { name: "topK", label: "Top k", control: integer(parameter.topK) },
  { name: "maxOutputTokens", label: "Maximum output tokens", control: integer(parameter.maxOutputTokens) },
  { name: "seed", label: "Seed", control: integer(parameter.seed) },
  { name: "frequencyPenalty", label: "Frequency penalty", control: decimal(parameter.frequencyPenalty) },
  { name: "presencePenalty", label: "Presence penalty", control: decimal(parameter.presencePenalty) },
  {
    name: "reasoningEffort",
    label: "Reasoning effort",
    control: choice(parameter.reasoningEffort.options),
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
      item: prose(1, parameter.stop.maxItemLength),
      itemName: "stop sequence",
      max: parameter.stop.maxItems,
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
          control: choice(ResponseFormatInput.type.options),
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
      max: parameter.tools.maxItems,
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
  { name: "maxToolRounds", label: "Maximum rounds of calls", control: integer(parameter.maxToolRounds) },
  {
    name: "toolConnectorId",
    label: "Id of the connector that executes calls",
    control: line(parameter.toolConnectorId.maxLength),
  },
];

/** They are merged with those of others: null removes a parameter that another layer sets. */
export const MODEL_PARAMETERS: Extract<Control, { kind: "object" }> = {
  kind: "object",
  fields: PARAMETERS,
  layout: "columns",
  mayRestore: true,
};

const OF_TOOLS = new Set(["tools", "toolChoice", "maxToolRounds", "toolConnectorId"]);

/** Chats call no functions. */
export const CHAT_PARAMETERS: Control = {
  kind: "object",
  fields: PARAMETERS.filter((each) => !OF_TOOLS.has(each.name)),
  layout: "columns",
  isFolded: true,
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
        {
          name: "model",
          label: "Model",
          control: { kind: "text", max: TargetInput.model.maxLength, offers: "models" },
        },
        {
          name: "connectorId",
          label: "Id of a connector",
          control: line(TargetInput.connectorId.maxLength),
          when: { field: "model", is: [undefined] },
        },
        { name: "label", label: "Label (optional)", control: line(TargetInput.label.maxLength) },
        {
          name: "maxAttempts",
          label: "Attempts of a call (optional)",
          control: integer(TargetInput.maxAttempts),
        },
        {
          name: "callTimeoutSeconds",
          label: "Timeout of a call in seconds (optional)",
          control: decimal(TargetInput.callTimeoutSeconds),
        },
        { name: "params", label: "Parameters (optional)", control: { ...MODEL_PARAMETERS, isFolded: true } },
      ],
      layout: "columns",
    },
    itemName: "target",
    max: CreateEval.targets.maxItems,
    fresh: {},
  },
};
