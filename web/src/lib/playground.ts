/** The columns of the playground, each with a chat of its own, and what is made of them. */
import type { Schemas } from "../api/types";
import { presentContent } from "./content_fields";
import { type Content, isContent } from "./definitions";

export const MAX_COLUMNS = 4;

export interface ColumnChat {
  readonly id: string;
  readonly branchId: string;
  /** It has the settings of its next answer, as JSON. */
  readonly settings: string;
}

export interface Unsent {
  readonly content: string;
  /** A message that is sent twice with this key is answered once. */
  readonly key: string;
  /** If true, it replaces the last message. */
  readonly isAgain: boolean;
}

export interface Column {
  readonly id: number;
  readonly model: string;
  readonly connectorId: string;
  readonly params: Content;
  readonly system: string;
  readonly chat: ColumnChat | null;
  readonly unsent: Unsent | null;
}

export interface Playground {
  readonly columns: readonly Column[];
  /** It is null while each column has a system prompt of its own. */
  readonly sharedSystem: string | null;
}

/** Returns two columns with the same model: they differ once another model or prompt is chosen. */
export function firstPlayground(model: string): Playground {
  const column: Column = {
    id: 1,
    model,
    connectorId: "",
    params: {},
    system: "",
    chat: null,
    unsent: null,
  };
  return { columns: [column, { ...column, id: 2 }], sharedSystem: "" };
}

/** Adds a column with the settings of the last one, and without its conversation. */
export function withColumn(columns: readonly Column[]): readonly Column[] {
  const last = columns.at(-1);
  if (last === undefined || columns.length >= MAX_COLUMNS) return columns;
  const id = Math.max(...columns.map((each) => each.id)) + 1;
  return [...columns, { ...last, id, chat: null, unsent: null }];
}

/** Gives each column the shared system prompt as its own, or all of them that of the first. */
export function withSharing({ columns, sharedSystem }: Playground, isShared: boolean): Playground {
  if (isShared) return { columns, sharedSystem: sharedSystem ?? columns[0]?.system ?? "" };
  return {
    columns: columns.map((each) => ({ ...each, system: sharedSystem ?? each.system })),
    sharedSystem: null,
  };
}

export function systemOf({ sharedSystem }: Playground, column: Column): string {
  return sharedSystem ?? column.system;
}

/** Returns the settings of a column's chat. */
export function settingsOf(playground: Playground, column: Column) {
  const { connectorId, model, params } = column;
  const target = connectorId === "" ? { model: model.trim() } : { connectorId };
  return {
    // The API checks whatever was typed.
    target: { ...target, params } as Schemas["ChatTargetInput"],
    system: systemOf(playground, column) || null,
  };
}

/** Says what has to be chosen before a message can be sent; null if nothing is missing. */
export function missingChoice(columns: readonly Column[]): string | null {
  const hasTarget = ({ connectorId, model }: Column) =>
    connectorId !== "" || /^[^/\s]+\/\S+$/.test(model.trim());
  const at = columns.findIndex((each) => !hasTarget(each));
  return at === -1 ? null : `Choose a model in column ${at + 1}.`;
}

/** Returns the models and agents of the columns, as the form of a new run has them. */
export function runTargets(columns: readonly Column[]) {
  const models = columns.filter((each) => each.connectorId === "").map((each) => each.model.trim());
  const agents = columns.map((each) => each.connectorId).filter((each) => each !== "");
  return { models: [...new Set(models)], agents: [...new Set(agents)] };
}

/** Returns a scenario that sends the message, with what was written about its answer. */
export function scenarioOf(message: string, criteria: string, contained: string): Schemas["CreateScenario"] {
  return {
    prompt: message,
    ...(criteria.trim() && { successCriteria: criteria.trim() }),
    ...(contained.trim() && { assertions: [{ type: "icontains", value: contained.trim() }] }),
  } as Schemas["CreateScenario"];
}

/**
 * Returns the prompts of a definition with another one. A definition without prompts asks in one way, which becomes the
 * first of them.
 */
export function promptsWith(
  content: object,
  label: string,
  system: string,
  params: Content,
): readonly Content[] {
  const stored = presentContent(content)["prompts"];
  const present = Array.isArray(stored) ? stored.filter(isContent) : [];
  const prompts = present.length === 0 ? [{ id: "original", label: "Original" }] : present;
  const id = freeId(label, new Set(prompts.map((each) => each["id"])));
  return [...prompts, { id, label, system, ...(Object.keys(params).length > 0 && { params }) }];
}

function freeId(label: string, taken: ReadonlySet<unknown>): string {
  const words = label.toLowerCase().match(/[a-z0-9]+/g) ?? ["prompt"];
  const id = words.join("-").slice(0, 56);
  for (let number = 1; ; number++) {
    const each = number === 1 ? id : `${id}-${number}`;
    if (!taken.has(each)) return each;
  }
}
