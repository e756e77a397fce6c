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

/** Targets without anything of their own as names between commas, with agents as `connector/<id>`; others as JSON. */
export function targetsText(targets: readonly Target[]): { text: string; isJson: boolean } {
  const inputs = targetInputs(targets);
  const isJson = inputs.some((each) => Object.keys(each).length > 1);
  const names = inputs.map((each) => each.model ?? `${CONNECTOR}${each.connectorId}`);
  return { text: isJson ? JSON.stringify(inputs, null, 2) : names.join(", "), isJson };
}

/** Undefined for what names no target. */
export function parseTargets(text: string, isJson: boolean): TargetInput[] | undefined {
  if (isJson) {
    try {
      const value: unknown = JSON.parse(text);
      return Array.isArray(value) && value.length > 0 ? (value as TargetInput[]) : undefined;
    } catch {
      return undefined;
    }
  }
  const names = [...new Set(text.split(",").map((each) => each.trim()))].filter((each) => each !== "");
  if (names.length === 0) return undefined;
  return names.map((name) =>
    name.startsWith(CONNECTOR) ? { connectorId: name.slice(CONNECTOR.length) } : { model: name },
  ) as TargetInput[];
}
