import { assertionList, TOOL_RESULT } from "./content_fields";
import { type Content, isContent } from "./definitions";
import { type FieldSpec, prose, texts } from "./form_controls";
import { MESSAGES } from "./message_fields";

const MAX_TEXT = 500_000;
const MAX_CRITERIA = 50_000;

export const SCENARIO_FIELDS: readonly FieldSpec[] = [
  { name: "name", label: "Scenario name (optional)", control: { kind: "text", max: 500 } },
  {
    name: "prompt",
    label: "First user message",
    control: prose(4, MAX_TEXT),
    note: "Not needed with instructions: the simulated user then begins",
  },
  {
    name: "instructions",
    label: "Instructions of the simulated user (optional)",
    control: prose(3, MAX_CRITERIA),
    note: "What the simulated user wants; not shown to the target",
  },
  {
    name: "successCriteria",
    label: "Success criteria (optional)",
    control: prose(2, MAX_CRITERIA),
    note: "When the judge ends the conversation with success",
  },
  {
    name: "failureCriteria",
    label: "Failure criteria (optional)",
    control: prose(2, MAX_CRITERIA),
    note: "When the judge ends the conversation with failure",
  },
];

export const FURTHER_SCENARIO_FIELDS: readonly FieldSpec[] = [
  {
    name: "failureCriteriaMode",
    label: "Failure criteria are checked",
    control: { kind: "choice", options: ["on_max_messages", "every_turn"] },
    note: "on_max_messages, by default: when the conversation has reached its most messages",
  },
  {
    name: "maxMessages",
    label: "Messages at most",
    control: { kind: "number", min: 1, max: 200, isWhole: true },
    note: "Of the conversation, the first one included",
  },
  {
    name: "followUps",
    label: "Follow-ups",
    control: texts("message", 99, prose(2, MAX_TEXT)),
    note: "User messages after the first answer, instead of the definition's",
  },
  { name: "separateTurns", label: "Each message is a request of its own", control: { kind: "flag" } },
  {
    name: "leftOutChecks",
    label: "Checks that an import left out",
    control: { kind: "json", rows: 2 },
    note: "How many, by type; an empty object once others replace them",
  },
  {
    name: "assertions",
    label: "Assertions",
    control: assertionList(0),
    note: "In addition to the definition's",
  },
  {
    name: "personaIds",
    label: "Ids of personas",
    control: texts("id", 100, { kind: "text", max: 100 }),
    note: "Each one has a conversation of its own",
  },
  {
    name: "messages",
    label: "Messages",
    control: MESSAGES,
    note: "What the conversation starts with, instead of a first message alone",
  },
  {
    name: "messagesByPrompt",
    label: "Messages by prompt",
    control: {
      kind: "entries",
      item: MESSAGES,
      itemName: "prompt",
      nameLabel: "Id of the prompt",
      valueLabel: "Its messages",
      max: 100,
      fresh: [{ role: "user", content: "" }],
    },
    note: "What the conversation starts with instead, for some of the definition's prompts",
  },
  {
    name: "toolResults",
    label: "Results of tools",
    control: {
      kind: "list",
      item: TOOL_RESULT,
      itemName: "result",
      max: 100,
      fresh: { name: "", result: "" },
      isFolded: true,
    },
    note: "What calls of functions return instead of being executed, before those of the definition",
  },
  {
    name: "metadata",
    label: "Metadata, as JSON",
    control: { kind: "json", rows: 3 },
    note: 'Any object; its "vars" are the variables of prompts and assertions',
  },
];

/**
 * Returns the fields that are always shown, and those that are folded. A conversation that starts with more than one
 * text of the user has its messages first.
 */
export function scenarioFields(hasMessages: boolean): readonly [readonly FieldSpec[], readonly FieldSpec[]] {
  if (!hasMessages) return [SCENARIO_FIELDS, FURTHER_SCENARIO_FIELDS];
  const isMessages = (each: FieldSpec) => each.name === "messages";
  const messages = FURTHER_SCENARIO_FIELDS.filter(isMessages);
  return [
    SCENARIO_FIELDS.flatMap((each) => (each.name === "prompt" ? messages : each)),
    FURTHER_SCENARIO_FIELDS.filter((each) => !isMessages(each)),
  ];
}

const DEFAULTS: Content = { name: "", separateTurns: false, failureCriteriaMode: "on_max_messages" };
/** The API adds these to a scenario's fields. */
const NOT_FIELDS = new Set(["id", "definitionId", "definitionVersion"]);

/** Converts a stored scenario for the form: without unset fields, and with one text of the user as `prompt`. */
export function scenarioDraft(stored: object): Content {
  const set = Object.entries(stored).filter(
    ([name, value]) => !NOT_FIELDS.has(name) && !isUnset(value) && DEFAULTS[name] !== value,
  );
  const { messages, ...rest } = Object.fromEntries(set);
  const text = onlyText(messages);
  const results = rest["toolResults"];
  return {
    ...rest,
    ...(text !== null ? { prompt: text } : messages !== undefined && { messages }),
    ...(Array.isArray(results) && { toolResults: results.map(resultDraft) }),
  };
}

/** Tells whether a field is null, or an empty list or object. */
function isUnset(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function onlyText(messages: unknown): string | null {
  if (!Array.isArray(messages) || messages.length !== 1) return null;
  const [{ role, content, ...rest }] = messages;
  return role === "user" && typeof content === "string" && Object.keys(rest).length === 0 ? content : null;
}

/** Removes fields that are null because they are absent; a result may be null. */
function resultDraft(result: unknown): unknown {
  if (!isContent(result)) return result;
  const hasError = typeof result["error"] === "string";
  return Object.fromEntries(
    Object.entries(result).filter(([name, value]) => value !== null || (name === "result" && !hasError)),
  );
}

const LISTS = new Set(["followUps", "assertions", "personaIds", "toolResults"]);
const OBJECTS = new Set(["dimensions", "metadata", "messagesByPrompt"]);

/** Returns the fields that a change sets, as a request has them: removed ones have their empty value. */
export function scenarioChanges(before: Content, after: Content): Content {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  return Object.fromEntries(
    changed.map((field) => [field, isUnset(after[field]) ? removed(field) : after[field]]),
  );
}

function removed(field: string): unknown {
  if (LISTS.has(field)) return [];
  if (OBJECTS.has(field)) return {};
  return field === "separateTurns" ? false : null;
}
