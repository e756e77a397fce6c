import { type Content, isContent } from "./definitions";
import { type Control, type FieldSpec, json, line, prose, texts, type Variant, whole } from "./form_controls";
import { PARAMETERS } from "./parameter_fields";

const MAX_TEMPLATE = 100_000;
const template = (rows: number): Control => ({ kind: "text", max: MAX_TEMPLATE, rows, isCode: true });
const choice = (...options: string[]): Control => ({ kind: "choice", options });
const flag: Control = { kind: "flag" };
const ROLES = choice("system", "developer", "user", "assistant");
const DEPTH: Control = { kind: "number", min: -500, max: 0, isWhole: true };

/** Chooses among fixed values, such as lists, that are shown in words. */
function fixed(label: string, ...values: readonly (readonly [label: string, value: unknown])[]): Control {
  const variants = values.map(
    ([words, value]): Variant => ({
      label: words,
      control: { kind: "hidden" },
      fresh: value,
      isOf: (each) => sameItems(each, value),
    }),
  );
  return { kind: "variants", label, variants };
}

function sameItems(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value);
  return sorted(one) === sorted(other);
}

const HOOKS = fixed(
  "It runs",
  ["before the call of the model", ["before_main_llm"]],
  ["after the answer", ["after_main_llm"]],
  ["before and after", ["before_main_llm", "after_main_llm"]],
);
const TRIGGERS = fixed(
  "It runs for",
  ["new messages and further answers", ["generate", "regenerate"]],
  ["new messages", ["generate"]],
  ["further answers to the last message", ["regenerate"]],
);
/** A flag of the form is false without a value, but this one is true by default. */
const onByDefault = (label: string, on: string, off: string) => fixed(label, [on, true], [off, false]);

// Parameters that operations may not have are left out.
const NOT_OF_OPERATIONS = new Set([
  "tools",
  "toolChoice",
  "maxToolRounds",
  "toolConnectorId",
  "responseFormat",
]);

const TARGET: Control = {
  kind: "object",
  fields: [
    {
      name: "model",
      label: "Model",
      control: { kind: "text", max: 256, offers: "models" },
      isRequired: true,
    },
    { name: "maxAttempts", label: "Attempts of a call (optional)", control: whole(1, 10) },
    {
      name: "callTimeoutSeconds",
      label: "Timeout of a call in seconds (optional)",
      control: { kind: "number", min: 0, max: 3_600 },
    },
    {
      name: "params",
      label: "Parameters (optional)",
      control: {
        kind: "object",
        layout: "columns",
        isFolded: true,
        fields: PARAMETERS.filter((each) => !NOT_OF_OPERATIONS.has(each.name)),
      },
    },
  ],
};

const STRICT: FieldSpec = {
  name: "strictVariables",
  label: "An unknown name in a template is an error",
  control: flag,
};

const CALL: readonly FieldSpec[] = [
  { name: "target", label: "Model that is called", control: TARGET, isRequired: true },
  { name: "system", label: "System prompt (optional)", control: template(2), note: "A template" },
  {
    name: "prompt",
    label: "Prompt",
    control: template(3),
    isRequired: true,
    note: "A template, such as: Plan the answer to: {{ user.text }}",
  },
];
const LIMITS: readonly FieldSpec[] = [
  STRICT,
  {
    name: "maxInputTokens",
    label: "Maximum tokens of the prompt (optional)",
    control: whole(1, 10_000_000),
  },
  {
    name: "maxCostUsd",
    label: "Maximum cost of a call in USD (optional)",
    control: { kind: "number", min: 0, max: 1_000_000 },
    note: "It needs maximum output tokens and a known price",
  },
];

const OUTPUT: Control = {
  kind: "object",
  fields: [
    { name: "mode", label: "The answer is", control: choice("text", "json") },
    {
      name: "extract",
      label: "Part of the answer with JSON",
      control: choice("raw", "code_block", "pattern"),
      when: { field: "mode", is: ["json"] },
    },
    {
      name: "pattern",
      label: "Regular expression, whose first group it is",
      control: { kind: "text", max: 1_000, isCode: true },
      when: { field: "extract", is: ["pattern"] },
    },
    {
      name: "schema",
      label: "JSON Schema (optional)",
      control: json(),
      when: { field: "mode", is: ["json"] },
    },
  ],
};

function questions(hasExpressions: boolean): FieldSpec {
  const expression: FieldSpec = {
    name: "when",
    label: "Expression",
    control: { kind: "text", max: MAX_TEMPLATE, isCode: true },
    note: "Such as: user.text | length > 300",
  };
  return {
    name: "outputs",
    label: "Questions that are answered with true or false",
    isRequired: true,
    control: {
      kind: "list",
      itemName: "question",
      max: 20,
      fresh: { key: "", title: "" },
      item: {
        kind: "object",
        fields: [
          { name: "key", label: "Key", control: line(64), isRequired: true },
          { name: "title", label: "Question", control: line(100), isRequired: true },
          ...(hasExpressions ? [expression] : []),
          { name: "description", label: "Description (optional)", control: prose(1, 2_000) },
        ],
      },
    },
  };
}

const ON_ERROR: FieldSpec = {
  name: "onError",
  label: "If it fails, the operation",
  control: choice("error", "all_false"),
};
const engine: FieldSpec = { name: "engine", label: "Engine", control: { kind: "hidden" } };

const ARTIFACT: Control = {
  kind: "object",
  fields: [
    {
      name: "tag",
      label: "Tag",
      control: line(64),
      isRequired: true,
      note: "Templates have the value as art.<tag>.value",
    },
    { name: "title", label: "Title (optional)", control: line(100) },
    { name: "format", label: "Format", control: choice("text", "markdown", "json") },
    { name: "persistence", label: "Persistence", control: choice("run_only", "persisted") },
    {
      name: "writeMode",
      label: "A later value",
      control: choice("replace", "append"),
      when: { field: "persistence", is: ["persisted"] },
    },
    {
      name: "retention",
      label: "History",
      control: {
        kind: "object",
        fields: [
          { name: "maxVersions", label: "Values that stay", control: whole(1, 100) },
          { name: "maxAgeDays", label: "Days (optional)", control: whole(1, 3_650) },
        ],
      },
      when: { field: "persistence", is: ["persisted"] },
    },
    {
      name: "usage",
      label: "Usage",
      control: choice("internal", "ui_only", "prompt_only", "prompt+ui"),
    },
    {
      name: "inclusion",
      label: "Place in the prompt",
      when: { field: "usage", is: ["prompt_only", "prompt+ui"] },
      control: {
        kind: "object",
        fields: [
          {
            name: "at",
            label: "Place",
            control: choice("system_prepend", "system_append", "after_last_user", "depth"),
          },
          {
            name: "depthFromEnd",
            label: "Messages from the end, as 0 or a negative number",
            control: DEPTH,
            when: { field: "at", is: ["depth"] },
          },
          { name: "role", label: "Role (optional)", control: ROLES },
          { name: "template", label: "Template (optional)", control: template(1) },
        ],
      },
    },
    { name: "semantics", label: "Meaning (optional)", control: line(64) },
  ],
};

const TEXT_OF_EFFECT: FieldSpec = {
  name: "template",
  label: "Template of the value (optional)",
  control: template(1),
};
const MODE: FieldSpec = {
  name: "mode",
  label: "How",
  control: choice("append", "prepend", "replace"),
  isRequired: true,
};
const ROLE: FieldSpec = { name: "role", label: "Role of the message", control: ROLES };
const PLACE: FieldSpec = {
  name: "depthFromEnd",
  label: "Messages from the end, as 0 or a negative number",
  control: DEPTH,
};

/** An effect with another type keeps only its template, which all types have. */
const EFFECT: Control = {
  kind: "variants",
  label: "What it changes",
  variants: (
    [
      ["the system prompt", { type: "prompt.system_update", mode: "append" }, [MODE]],
      [
        "the prompt: a message after the user's",
        { type: "prompt.append_after_last_user", role: "system" },
        [ROLE],
      ],
      [
        "the prompt: a message at a depth",
        { type: "prompt.insert_at_depth", role: "system", depthFromEnd: 0 },
        [ROLE, PLACE],
      ],
      ["the user's message", { type: "turn.user.rewrite" }, []],
      ["the answer", { type: "turn.assistant.rewrite" }, []],
      ["a note beside the answer", { type: "turn.assistant.annotate" }, []],
    ] as const
  ).map(
    ([label, fresh, fields]): Variant => ({
      label,
      control: {
        kind: "object",
        fields: [{ name: "type", label: "Type", control: { kind: "hidden" } }, ...fields, TEXT_OF_EFFECT],
      },
      fresh,
      isOf: (value) => isContent(value) && value["type"] === fresh.type,
      from: (value) =>
        isContent(value) && value["template"] !== undefined
          ? { ...fresh, template: value["template"] }
          : fresh,
    }),
  ),
};

const CONDITION: Control = {
  kind: "object",
  fields: [
    { name: "operationId", label: "Guard", control: line(64), isRequired: true },
    { name: "output", label: "Key of its question", control: line(64), isRequired: true },
    {
      name: "operator",
      label: "Its answer",
      control: choice("is_true", "is_false"),
      isRequired: true,
    },
  ],
};

function fieldsOf(params: readonly FieldSpec[]): readonly FieldSpec[] {
  return [
    { name: "kind", label: "Kind", control: { kind: "hidden" } },
    {
      name: "id",
      label: "Id",
      control: line(64),
      isRequired: true,
      note: "Lower-case letters, digits and _",
    },
    { name: "name", label: "Name of the operation", control: line(100), isRequired: true },
    { name: "hooks", label: "Hooks", control: HOOKS, isRequired: true },
    { name: "params", label: "What it does", control: { kind: "object", fields: params }, isRequired: true },
    { name: "artifact", label: "Value", control: ARTIFACT, isRequired: true },
    {
      name: "effects",
      label: "Effects of the value",
      control: {
        kind: "list",
        item: EFFECT,
        itemName: "effect",
        max: 10,
        fresh: { type: "prompt.system_update", mode: "append" },
      },
    },
    {
      name: "order",
      label: "Order",
      control: { kind: "number", min: -1_000_000_000, max: 1_000_000_000 },
      note: "The lowest comes first",
    },
    { name: "required", label: "The turn fails unless it is done", control: flag },
    {
      name: "enabled",
      label: "In use",
      control: onByDefault("This operation is", "in use", "not in use"),
    },
    { name: "triggers", label: "Triggers", control: TRIGGERS },
    {
      name: "dependsOn",
      label: "Operations that must be done before",
      control: texts("id", 40, line(64)),
    },
    {
      name: "runConditions",
      label: "Conditions",
      control: {
        kind: "list",
        item: CONDITION,
        itemName: "condition",
        max: 20,
        fresh: { operationId: "", output: "", operator: "is_true" },
      },
      note: "What guards must have answered for it to run",
    },
    {
      name: "debug",
      label: "Records",
      control: {
        kind: "object",
        fields: [{ name: "enabled", label: "They have the texts of its calls", control: flag }],
      },
    },
  ];
}

interface Kind {
  readonly label: string;
  readonly kind: string;
  readonly engine?: string;
  readonly params: readonly FieldSpec[];
  readonly fresh: Content;
}

const SKIP: FieldSpec = {
  name: "skipWhenBlank",
  label: "Blank text",
  control: onByDefault("A blank text", "ends it as skipped", "is a value"),
};
const MODEL = { target: { model: "" }, prompt: "" };
const QUESTION = { outputs: [{ key: "", title: "" }] };
const KINDS: readonly Kind[] = [
  {
    label: "a text from a template",
    kind: "template",
    params: [{ name: "template", label: "Template", control: template(3), isRequired: true }, SKIP, STRICT],
    fresh: { template: "" },
  },
  {
    label: "the answer of a model",
    kind: "llm",
    params: [...CALL, { name: "output", label: "Value of the answer", control: OUTPUT }, ...LIMITS],
    fresh: MODEL,
  },
  {
    label: "a guard by expressions",
    kind: "guard",
    engine: "rules",
    params: [engine, questions(true), ON_ERROR, STRICT],
    fresh: { engine: "rules", ...QUESTION },
  },
  {
    label: "a guard by a model",
    kind: "guard",
    engine: "llm",
    params: [engine, ...CALL, questions(false), ON_ERROR, ...LIMITS],
    fresh: { engine: "llm", ...MODEL, ...QUESTION },
  },
];

const FRESH: Content = {
  id: "",
  name: "",
  hooks: ["before_main_llm"],
  order: 10,
  artifact: { tag: "" },
};

/** Another kind keeps what all operations have; only what it does begins anew. */
function variantOfKind({ label, kind, engine: ofGuard, params, fresh }: Kind): Variant {
  return {
    label,
    control: { kind: "object", fields: fieldsOf(params) },
    fresh: { ...FRESH, kind, params: fresh },
    isOf: (value) =>
      isContent(value) &&
      value["kind"] === kind &&
      (ofGuard === undefined || (isContent(value["params"]) && value["params"]["engine"] === ofGuard)),
    from: (value) => {
      const before: Content = isContent(value) ? value : FRESH;
      return { ...before, kind, params: fresh, artifact: artifactOf(kind, before["artifact"]) };
    },
  };
}

/** The value of a guard is JSON; those of other kinds begin as text. */
function artifactOf(kind: string, before: unknown): Content {
  const { format: _, ...others } = isContent(before) ? before : { tag: "" };
  return kind === "guard" ? { ...others, format: "json" } : others;
}

export const OPERATIONS: FieldSpec = {
  name: "operations",
  label: "Operations",
  control: {
    kind: "list",
    itemName: "operation",
    max: 40,
    fresh: { ...FRESH, kind: "template", params: { template: "" } },
    isFolded: true,
    item: { kind: "variants", label: "Its value is", variants: KINDS.map(variantOfKind) },
  },
};
