import type { Schemas } from "../api/types";

type Target = Schemas["Target"];
type TargetInput = Schemas["TargetInput"];

const CONNECTOR = "connector/";

/** Has the fields that name a target. */
export type NamedTarget = Pick<Target, "id" | "label" | "model" | "agentName" | "connectorId">;

export type AgentNames = ReadonlyMap<string, string>;

/**
 * Returns the name of a target's agent: that of the run's start, else the present one, else its id. It is null for a
 * model.
 */
export function agentName(
  target: Pick<NamedTarget, "agentName" | "connectorId">,
  names: AgentNames,
): string | null {
  if (target.connectorId === null) return null;
  return target.agentName ?? names.get(target.connectorId) ?? target.connectorId;
}

/** Returns the names of targets in a line, the first three of many. */
export function targetNames(targets: readonly NamedTarget[], agentNames: AgentNames = new Map()): string {
  const names = targets.map((each) => each.label ?? each.model ?? agentName(each, agentNames) ?? each.id);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}

/** Returns the name for a target's id: a label, a model, or `connector/<id>`. */
export function namedTarget(id: string): NamedTarget {
  const connectorId = id.startsWith(CONNECTOR) ? id.slice(CONNECTOR.length) : null;
  return { id, label: null, model: connectorId === null ? id : null, agentName: null, connectorId };
}

/** Returns targets as a request has them, without unset fields. A parameter of null removes a default, and stays. */
export function targetInputs(targets: readonly Target[]): TargetInput[] {
  return targets.map(({ label, model, connectorId, params, maxAttempts, callTimeoutSeconds }) => ({
    ...(model !== null && { model }),
    ...(connectorId !== null && { connectorId }),
    ...(label !== null && { label }),
    ...(Object.keys(params).length > 0 && { params: params as Schemas["ModelParametersInput"] }),
    ...(maxAttempts !== null && { maxAttempts }),
    ...(callTimeoutSeconds !== null && { callTimeoutSeconds }),
  })) as TargetInput[];
}

/** Tells whether targets have labels, parameters or limits, which their names do not say. */
export function haveFields(targets: readonly Target[]): boolean {
  return targetInputs(targets).some((each) => Object.keys(each).length > 1);
}

/** Returns the names of targets between commas, with agents as `connector/<id>`. */
export function targetsText(targets: readonly Target[]): string {
  return targets.map((each) => each.model ?? `${CONNECTOR}${each.connectorId}`).join(", ");
}

/** Returns undefined for a text that names no target. */
export function parseTargets(text: string): TargetInput[] | undefined {
  const names = [...new Set(text.split(",").map((each) => each.trim()))].filter((each) => each !== "");
  if (names.length === 0) return undefined;
  return names.map((name) =>
    name.startsWith(CONNECTOR) ? { connectorId: name.slice(CONNECTOR.length) } : { model: name },
  ) as TargetInput[];
}

export function areTargets(targets: unknown): boolean {
  return Array.isArray(targets) && targets.length > 0;
}
