/** What a decision pattern reads from answers, by the rules of the API: the last match in an answer counts. */
import { lastMatch, type Pattern, parsePattern, TooManySteps, UnknownPattern } from "./python_pattern";

export type Decision =
  | { readonly kind: "code"; readonly code: string; readonly found: string }
  | { readonly kind: "none" }
  /** The expression is not known here, or needs more steps than are spent on it. */
  | { readonly kind: "unknown" | "slow" };

/** Of all answers together: a tenth of a second. */
const MAX_STEPS = 2_000_000;
/** Characters at the end of an answer that are searched. */
const MAX_SEARCHED = 20_000;
const MAX_PATTERN_LENGTH = 1_000;
const MAX_WIDE_SETS = 20;
const UNBOUNDED = 10;
const MAX_FOUND = 200;

export function readDecisions(source: string, answers: readonly string[]): Decision[] {
  const pattern = parsed(source);
  const steps = { left: MAX_STEPS };
  return answers.map((answer) => {
    if (pattern === null) return { kind: "unknown" };
    try {
      const match = lastMatch(pattern, Array.from(answer).slice(-MAX_SEARCHED).join(""), steps);
      if (match === null) return { kind: "none" };
      return { kind: "code", code: codeOf(match.group), found: match.text.slice(0, MAX_FOUND) };
    } catch (error) {
      if (error instanceof TooManySteps) return { kind: "slow" };
      throw error;
    }
  });
}

/** What the API refuses of a decision pattern; null for what is right, or not known here. */
export function patternError(source: string): string | null {
  if (Array.from(source).length > MAX_PATTERN_LENGTH)
    return `must have at most ${MAX_PATTERN_LENGTH} characters`;
  if (hasTooManyWideSets(source)) {
    return `must not have more than ${MAX_WIDE_SETS} sets of characters beyond ASCII if it ignores case`;
  }
  const pattern = parsed(source);
  if (pattern === null) return null;
  if (pattern.groupCount === 0) return "must have a group: the first one is the decision code";
  return hasNestedRepetition(source)
    ? "must not repeat a group that itself repeats something, such as (a+)+: matching can take exponential time"
    : null;
}

function parsed(source: string): Pattern | null {
  try {
    return parsePattern(source);
  } catch (error) {
    if (error instanceof UnknownPattern) return null;
    throw error;
  }
}

function hasTooManyWideSets(source: string): boolean {
  const sets = source.split("[").length - 1;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: as the API has it
  return sets > MAX_WIDE_SETS && /\(\?[a-hj-zA-Z]*i/.test(source) && /[^\x00-\x7f]|\\[uUNx]/.test(source);
}

const TOKEN = /\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|([*+]|\{(?:\d+|\d*,\d*)\})[+?]?|./gsu;

function hasNestedRepetition(source: string): boolean {
  const open = [false];
  let isClosed = false;
  for (const [token, repeat] of source.matchAll(TOKEN)) {
    if (repeat !== undefined && isUnbounded(repeat)) {
      if (isClosed) return true;
      open[open.length - 1] = true;
    } else if (token === "(") {
      open.push(false);
    } else if (token === ")" && open.length > 1) {
      isClosed = open.pop() ?? false;
      if (isClosed) open[open.length - 1] = true;
      continue;
    }
    isClosed = false;
  }
  return false;
}

function isUnbounded(repeat: string): boolean {
  if (repeat === "*" || repeat === "+") return true;
  const most = repeat.slice(1, -1).split(",").at(-1) ?? "";
  return most === "" || Number(most) >= UNBOUNDED;
}

/** What Python strips. */
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*";
const CODE = new RegExp(`^${SPACE}([1-5])${SPACE}$`);

function codeOf(group: string): string {
  return CODE.exec(group)?.[1] ?? "other";
}
