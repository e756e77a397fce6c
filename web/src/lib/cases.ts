import type { Schemas } from "../api/types";

export function matchingCases(names: readonly Schemas["CaseName"][] | undefined, q: string | undefined) {
  if (q === undefined || names === undefined) return q === undefined ? null : new Set<number>();
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (each: Schemas["CaseName"]) =>
    `${each.scenarioName ?? ""} ${each.scenarioId} ${each.personaName ?? ""}`.toLowerCase();
  return new Set(
    names.filter((each) => words.every((word) => text(each).includes(word))).map((each) => each.index),
  );
}

type Names = readonly Pick<Schemas["CaseName"], "index" | "dimensions">[];

export function dimensionsOf(names: Names): string[] {
  return [...new Set(names.flatMap((each) => Object.keys(each.dimensions)))].sort();
}

/** Returns the level of each case in a dimension; null until the names are loaded, and without a dimension. */
export function levelsOf(
  names: Names | undefined,
  dimension: string | undefined,
): Map<number, number> | null {
  if (names === undefined || dimension === undefined) return null;
  const levels = names.flatMap(({ index, dimensions }) => {
    const level = Object.hasOwn(dimensions, dimension) ? dimensions[dimension] : undefined;
    return level === undefined ? [] : [[index, level] as const];
  });
  return new Map(levels);
}
