import { type Content, isContent } from "./definitions";
import { normalizeName } from "./preview";

/** Above this number of levels a rule is edited as JSON. */
export const MAX_LEVELS = 100;

export interface ChoiceOfLevels {
  /** It is the rule's spelling, or else the dimension's. */
  readonly name: string;
  /** It is true if there is such a dimension. */
  readonly isKnown: boolean;
  readonly levels: readonly LevelChoice[];
}

interface LevelChoice {
  readonly score: number;
  /** It is null for a score that is not the dimension's. */
  readonly label: string | null;
  readonly isChosen: boolean;
}

export interface Dimension {
  readonly name: string;
  readonly levels: readonly { readonly score: number; readonly label: string }[];
}

/** Returns the dimensions of a content that have a name and levels with scores. */
export function scoredDimensions(content: Content): Dimension[] {
  const dimensions = Array.isArray(content["dimensions"]) ? content["dimensions"] : [];
  return dimensions.filter(isContent).flatMap(({ name, levels }) => {
    if (typeof name !== "string" || name.trim() === "" || !Array.isArray(levels)) return [];
    const scored = levels
      .filter(isContent)
      .flatMap(({ score, label }) =>
        typeof score === "number" ? [{ score, label: typeof label === "string" ? label : "" }] : [],
      );
    return [{ name, levels: scored.filter((each, index) => isFirst(scored, each.score, index)) }];
  });
}

function isFirst(levels: readonly { score: number }[], score: number, index: number): boolean {
  return levels.findIndex((each) => each.score === score) === index;
}

/** Returns all levels, and other scores that the rule names. */
export function levelChoices(pattern: unknown, dimensions: readonly Dimension[]): ChoiceOfLevels[] {
  const named = Object.entries(isContent(pattern) ? pattern : {});
  const known = dimensions.map((dimension) => {
    const [name, scores] = named.find(([each]) => isSame(each, dimension.name)) ?? [dimension.name, []];
    return { name, isKnown: true, levels: choicesOf(asList(scores), dimension.levels) };
  });
  const others = named.filter(([name]) => !known.some((each) => each.name === name));
  return [
    ...known,
    ...others.map(([name, scores]) => ({ name, isKnown: false, levels: choicesOf(asList(scores), []) })),
  ];
}

function choicesOf(scores: readonly number[], levels: Dimension["levels"]): LevelChoice[] {
  const others = [...new Set(scores)].filter((score) => !levels.some((each) => each.score === score));
  return [
    ...levels.map((each) => ({ ...each, isChosen: scores.includes(each.score) })),
    ...others.map((score) => ({ score, label: null, isChosen: true })),
  ];
}

/** Adds a level to the rule or removes it: one score is a number, several are a list. */
export function withLevel(pattern: unknown, name: string, score: number, isChosen: boolean): Content {
  const object = isContent(pattern) ? pattern : {};
  const before = Object.hasOwn(object, name) ? asList(object[name]) : [];
  const others = before.filter((each) => each !== score);
  const scores = isChosen ? [...others, score].sort((one, other) => one - other) : others;
  if (scores.length === 0)
    return Object.fromEntries(Object.entries(object).filter(([each]) => each !== name));
  return { ...object, [name]: scores.length === 1 ? scores[0] : scores };
}

function asList(scores: unknown): number[] {
  return (Array.isArray(scores) ? scores : [scores]).filter((each) => typeof each === "number");
}

function isSame(one: string, other: string): boolean {
  return normalizeName(one) === normalizeName(other);
}
