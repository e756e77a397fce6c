import type { CaseName, CaseText } from "../api/types";
import { parseWhere } from "./search";

/**
 * Returns the cases with all words in their name, input, expectation or variables, and with the value of a variable.
 * Without either filter it is null; until names and texts are loaded, no case is among them.
 */
export function matchingCases(
  names: readonly CaseName[] | undefined,
  texts: readonly CaseText[] | undefined,
  { q, where }: { q: string | undefined; where: string | undefined },
): ReadonlySet<number> | null {
  if (q === undefined && where === undefined) return null;
  if (texts === undefined || (q !== undefined && names === undefined)) return new Set();
  const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const [name, value] = parseWhere(where) ?? [];
  const ofCase = new Map(names?.map((each) => [each.index, each]));
  const matches = (text: CaseText) =>
    (name === undefined || (Object.hasOwn(text.values, name) && text.values[name] === value)) &&
    containsAll(words, ofCase.get(text.index), text);
  return new Set(texts.filter(matches).map((each) => each.index));
}

function containsAll(words: readonly string[], name: CaseName | undefined, text: CaseText): boolean {
  if (words.length === 0) return true;
  const names = [name?.scenarioName, name?.scenarioId, name?.personaName];
  const all = [...names, text.input, text.expected, ...Object.values(text.values)].join(" ").toLowerCase();
  return words.every((word) => all.includes(word));
}

/** Returns the names of variables, and of dimensions, that these cases have, in the order of their first use. */
export function valueNames(texts: Iterable<CaseText>): string[] {
  return [...new Set([...texts].flatMap((each) => Object.keys(each.values)))];
}
