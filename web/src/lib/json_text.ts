export interface Place {
  readonly start: number;
  readonly end: number;
  /** Lines count from 1. */
  readonly line: number;
}

export type ParsedText =
  | { readonly value: unknown; readonly places: ReadonlyMap<string, Place> }
  | { readonly error: string; readonly place: Place };

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/uy;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const MAX_DEPTH = 60;

class SyntaxProblem extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

/** Parses JSON. Paths are written as the API does: `operations.3.dependsOn.0`; that of the whole text is empty. */
export function parseText(text: string): ParsedText {
  const lines = lineStarts(text);
  const place = (start: number, end: number) => ({ start, end, line: lineOf(lines, start) });
  try {
    const places = new Map<string, Place>();
    for (const [path, start, end] of spans(text)) places.set(path, place(start, end));
    return { value: JSON.parse(text) as unknown, places };
  } catch (error) {
    const problem = error instanceof SyntaxProblem ? error : new SyntaxProblem("is no JSON", 0);
    return { error: problem.message, place: place(problem.at, Math.min(text.length, problem.at + 1)) };
  }
}

export function placeOf(places: ReadonlyMap<string, Place>, path: string): Place | undefined {
  for (let rest = path; rest !== ""; rest = rest.slice(0, Math.max(0, rest.lastIndexOf(".")))) {
    const place = places.get(rest);
    if (place !== undefined) return place;
  }
  return places.get("");
}

function spans(text: string): [path: string, start: number, end: number][] {
  const found: [string, number, number][] = [];
  let at = 0;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0] ?? null;
    at += match?.length ?? 0;
    return match;
  };
  const skip = () => void take(SPACE);
  const expect = (character: string) => {
    skip();
    if (text[at] !== character) throw new SyntaxProblem(`${character} is expected here`, at);
    at += 1;
  };
  /** Consumes a comma or the end, and tells whether another item follows. */
  const goesOn = (end: string) => {
    skip();
    if (text[at] === ",") {
      at += 1;
      return true;
    }
    if (text[at] !== end) throw new SyntaxProblem(`a comma or ${end} is expected here`, at);
    at += 1;
    return false;
  };
  const isEmpty = (end: string) => {
    at += 1;
    skip();
    if (text[at] !== end) return false;
    at += 1;
    return true;
  };
  const value = (path: string, depth: number) => {
    skip();
    if (depth > MAX_DEPTH) throw new SyntaxProblem(`is nested more than ${MAX_DEPTH} levels deep`, at);
    const start = at;
    const below = (key: string | number) => (path === "" ? String(key) : `${path}.${key}`);
    if (text[at] === "{") {
      if (!isEmpty("}")) {
        do {
          skip();
          const keyAt = at;
          const key = take(STRING);
          if (key === null) throw new SyntaxProblem("a name in double quotes is expected here", keyAt);
          expect(":");
          value(below(JSON.parse(key) as string), depth + 1);
        } while (goesOn("}"));
      }
    } else if (text[at] === "[") {
      if (!isEmpty("]")) {
        let index = 0;
        do value(below(index++), depth + 1);
        while (goesOn("]"));
      }
    } else if (take(STRING) === null && !take(SCALAR)) {
      throw new SyntaxProblem("a value is expected here: a text in double quotes, a number, { or [", at);
    }
    found.push([path, start, at]);
  };
  value("", 0);
  skip();
  if (at < text.length) throw new SyntaxProblem("nothing is expected after the value", at);
  return found;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lineOf(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

/** Writes text to edit, without fields that are null; contents of a schema are left as they are. */
export function editable(value: unknown): string {
  return JSON.stringify(withoutNull(value), null, 2);
}

const SCHEMAS = new Set(["schema", "parameters"]);

function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== null && each !== undefined)
      .map(([name, each]) => [name, SCHEMAS.has(name) ? each : withoutNull(each)]),
  );
}
