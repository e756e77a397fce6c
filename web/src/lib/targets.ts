/** Targets as text. */
import type { Schemas } from "../api/client";

type Target = Schemas["Target"];
type TargetInput = Schemas["TargetInput"];

/** The names of targets in a line, the first three of many. */
export function targetNames(
  targets: readonly { id: string; label: string | null; model: string | null; connectorId: string | null }[],
): string {
  const names = targets.map((each) => each.label ?? each.model ?? each.connectorId ?? each.id);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}

/** Targets as a request has them: without what they do not set. A parameter of null removes a default, and stays. */
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

const CONNECTOR = "connector/";

/** Whether targets have labels, parameters or limits, which their names do not say. */
export function haveFields(targets: readonly Target[]): boolean {
  return targetInputs(targets).some((each) => Object.keys(each).length > 1);
}

/** The names of targets between commas, with agents as `connector/<id>`. */
export function targetsText(targets: readonly Target[]): string {
  return targets.map((each) => each.model ?? `${CONNECTOR}${each.connectorId}`).join(", ");
}

/** Undefined for a text that names no target. */
export function parseTargets(text: string): TargetInput[] | undefined {
  const names = [...new Set(text.split(",").map((each) => each.trim()))].filter((each) => each !== "");
  if (names.length === 0) return undefined;
  return names.map((name) =>
    name.startsWith(CONNECTOR) ? { connectorId: name.slice(CONNECTOR.length) } : { model: name },
  ) as TargetInput[];
}

/** Whether a list has a target. */
export function areTargets(targets: unknown): boolean {
  return Array.isArray(targets) && targets.length > 0;
}
