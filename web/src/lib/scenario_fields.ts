/** The fields of a scenario that is written by hand. */
import { assertionList, type FieldSpec, prose, texts } from "./content_fields";

const MAX_TEXT = 500_000;
const MAX_CRITERIA = 50_000;

export const SCENARIO_FIELDS: readonly FieldSpec[] = [
  { name: "name", label: "Name of the scenario (optional)", control: { kind: "text", max: 500 } },
  {
    name: "prompt",
    label: "First message of the user",
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

/** Seldom set. */
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
    name: "metadata",
    label: "Metadata, as JSON",
    control: { kind: "json", rows: 3 },
    note: 'Any object; its "vars" are the variables of prompts and assertions',
  },
];
