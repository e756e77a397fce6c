import type { Schemas } from "../api/client";

/** The indexes of the cases whose names have all these words; null for all cases, and none until the names are loaded. */
export function matchingCases(names: readonly Schemas["CaseName"][] | undefined, q: string | undefined) {
  if (q === undefined || names === undefined) return q === undefined ? null : new Set<number>();
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (each: Schemas["CaseName"]) =>
    `${each.scenarioName ?? ""} ${each.scenarioId} ${each.personaName ?? ""}`.toLowerCase();
  return new Set(
    names.filter((each) => words.every((word) => text(each).includes(word))).map((each) => each.index),
  );
}
