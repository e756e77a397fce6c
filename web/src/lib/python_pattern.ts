/**
 * Python's regular expressions, as far as decision patterns have them, matched in a bounded number of steps.
 *
 * JavaScript's own expressions differ (`$`, `.`, `\d`, `\w`, `(?i)`, `(?P<n>…)`), cannot be stopped, and the page's
 * policy permits no worker. What is not known here, such as `(?(1)…)`, is reported as unknown and never guessed.
 */

/** Such an expression is refused by the API, or is not known here. */
export class UnknownPattern extends Error {}

export class TooManySteps extends Error {}

/** What is left for matching, of one or of several texts. */
export interface Steps {
  left: number;
}

export interface PatternMatch {
  readonly text: string;
  /** Of the first group; empty if it has no part in the match. */
  readonly group: string;
}

interface Flags {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  readonly ascii: boolean;
}

type Node =
  | { readonly kind: "set"; readonly matches: (character: string) => boolean }
  | { readonly kind: "at"; readonly holds: (state: State, at: number) => boolean }
  | { readonly kind: "group"; readonly index: number; readonly body: Node }
  | { readonly kind: "reference"; readonly index: number; readonly ignoreCase: boolean }
  | { readonly kind: "sequence"; readonly nodes: readonly Node[] }
  | { readonly kind: "choice"; readonly nodes: readonly Node[] }
  | {
      readonly kind: "repeat";
      readonly body: Node;
      readonly min: number;
      readonly max: number;
      readonly mode: "greedy" | "lazy" | "possessive";
    }
  | { readonly kind: "atomic"; readonly body: Node }
  | {
      readonly kind: "look";
      readonly body: Node;
      readonly isNegated: boolean;
      /** Of a look behind: how far. */
      readonly width: number | null;
    };

interface State {
  readonly text: readonly string[];
  readonly groups: (readonly [start: number, end: number] | undefined)[];
  readonly steps: Steps;
}

export interface Pattern {
  readonly root: Node;
  readonly groupCount: number;
}

const NO_FLAGS: Flags = { ignoreCase: false, multiline: false, dotAll: false, ascii: false };
const SPACES = "\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const WORDS = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d";
const CLASSES: Readonly<Record<string, readonly [unicode: string, ascii: string]>> = {
  d: ["\\p{Nd}", "0-9"],
  s: [SPACES, "\\t-\\r "],
  w: [WORDS, "0-9A-Za-z_"],
};
const CONTROLS: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const MAX_COUNT = 1_000;
const MAX_DEPTH = 50;

/** Throws UnknownPattern for what Python refuses, and for what is not known here. */
export function parsePattern(source: string): Pattern {
  return new Parser(source).parse();
}

/** The last of the matches in a text. Throws TooManySteps, and UnknownPattern if the text is too long for recursion. */
export function lastMatch(pattern: Pattern, text: string, steps: Steps): PatternMatch | null {
  const characters = Array.from(text);
  let found: PatternMatch | null = null;
  try {
    let [from, mustAdvance] = [0, false];
    while (from <= characters.length) {
      const match = firstMatch(pattern, characters, from, mustAdvance, steps);
      if (match === null) break;
      const { start, end, group } = match;
      found = { text: characters.slice(start, end).join(""), group: group ?? "" };
      // As Python: after an empty match, a match at the same place must not be empty.
      mustAdvance = start === end;
      from = end;
    }
  } catch (error) {
    if (error instanceof RangeError) throw new TooManySteps();
    throw error;
  }
  return found;
}

function firstMatch(
  pattern: Pattern,
  text: readonly string[],
  from: number,
  mustAdvance: boolean,
  steps: Steps,
) {
  for (let start = from; start <= text.length; start++) {
    const state: State = { text, groups: new Array(pattern.groupCount + 1).fill(undefined), steps };
    let end = -1;
    const isFound = run(pattern.root, state, start, (at) => {
      if (mustAdvance && start === from && at === start) return false;
      end = at;
      return true;
    });
    if (isFound) {
      const group = state.groups[1];
      return { start, end, group: group && text.slice(group[0], group[1]).join("") };
    }
  }
  return null;
}

type Next = (at: number) => boolean;

/** Whether the node matches at a place so that what follows does as well. */
function run(node: Node, state: State, at: number, next: Next): boolean {
  state.steps.left -= 1;
  if (state.steps.left < 0) throw new TooManySteps();
  switch (node.kind) {
    case "set": {
      const character = state.text[at];
      return character !== undefined && node.matches(character) && next(at + 1);
    }
    case "at":
      return node.holds(state, at) && next(at);
    case "group":
      return runGroup(node.index, node.body, state, at, next);
    case "reference":
      return runReference(node.index, node.ignoreCase, state, at, next);
    case "sequence":
      return runSequence(node.nodes, 0, state, at, next);
    case "choice":
      return node.nodes.some((each) => run(each, state, at, next));
    case "repeat":
      if (node.mode === "possessive") return runAtomic({ ...node, mode: "greedy" }, state, at, next);
      return node.body.kind === "set"
        ? repeatSet(node.body.matches, node, state, at, next)
        : repeat(node, state, at, 0, next);
    case "atomic":
      return runAtomic(node.body, state, at, next);
    case "look":
      return runLook(node, state, at, next);
  }
}

function runSequence(nodes: readonly Node[], index: number, state: State, at: number, next: Next): boolean {
  const node = nodes[index];
  if (node === undefined) return next(at);
  return run(node, state, at, (end) => runSequence(nodes, index + 1, state, end, next));
}

function runGroup(index: number, body: Node, state: State, at: number, next: Next): boolean {
  return run(body, state, at, (end) => {
    const before = state.groups[index];
    state.groups[index] = [at, end];
    if (next(end)) return true;
    state.groups[index] = before;
    return false;
  });
}

function runReference(index: number, ignoreCase: boolean, state: State, at: number, next: Next): boolean {
  const group = state.groups[index];
  if (group === undefined) return false;
  for (let offset = 0; offset < group[1] - group[0]; offset++) {
    state.steps.left -= 1;
    const [wanted, found] = [state.text[group[0] + offset], state.text[at + offset]];
    if (wanted === undefined || found === undefined) return false;
    if (wanted !== found && !(ignoreCase && isSameLetter(wanted, found))) return false;
  }
  return next(at + group[1] - group[0]);
}

type Repeat = Extract<Node, { kind: "repeat" }>;

/** Without recursion: a text has thousands of characters. */
function repeatSet(
  matches: (character: string) => boolean,
  { min, max, mode }: Repeat,
  state: State,
  at: number,
  next: Next,
): boolean {
  const { text, steps } = state;
  const fits = (position: number) => {
    steps.left -= 1;
    const character = text[position];
    return character !== undefined && matches(character);
  };
  let end = at;
  const isLazy = mode === "lazy";
  while (end - at < (isLazy ? min : max) && fits(end)) end++;
  if (end - at < min) return false;
  if (isLazy) {
    for (; !next(end); end++) if (end - at >= max || !fits(end)) return false;
    return true;
  }
  for (; end - at >= min; end--) {
    if (next(end)) return true;
    steps.left -= 1;
    if (steps.left < 0) throw new TooManySteps();
  }
  return false;
}

function repeat(node: Repeat, state: State, at: number, count: number, next: Next): boolean {
  const more = () =>
    count < node.max && run(node.body, state, at, (end) => repeat(node, state, end, count + 1, next));
  const enough = () => count >= node.min && next(at);
  return node.mode === "lazy" ? enough() || more() : more() || enough();
}

function runAtomic(body: Node, state: State, at: number, next: Next): boolean {
  const before = [...state.groups];
  let end = at;
  const isFound = run(body, state, at, (position) => {
    end = position;
    return true;
  });
  if (isFound && next(end)) return true;
  restore(state, before);
  return false;
}

function runLook(node: Extract<Node, { kind: "look" }>, state: State, at: number, next: Next): boolean {
  const before = [...state.groups];
  const from = at - (node.width ?? 0);
  const isFound = from >= 0 && run(node.body, state, from, (end) => node.width === null || end === at);
  if (node.isNegated) restore(state, before);
  if (isFound !== node.isNegated && next(at)) return true;
  restore(state, before);
  return false;
}

function restore(state: State, groups: State["groups"]): void {
  for (const [index, group] of groups.entries()) state.groups[index] = group;
}

/** How many characters a node matches: least and most. */
function widths(node: Node): [least: number, most: number] {
  switch (node.kind) {
    case "set":
      return [1, 1];
    case "at":
    case "look":
      return [0, 0];
    case "group":
    case "atomic":
      return widths(node.body);
    case "reference":
      return [0, Number.POSITIVE_INFINITY];
    case "sequence":
      return node.nodes.map(widths).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    case "choice": {
      const all = node.nodes.map(widths);
      return [Math.min(...all.map((each) => each[0])), Math.max(...all.map((each) => each[1]))];
    }
    case "repeat": {
      const [least, most] = widths(node.body);
      return [least * node.min, most === 0 ? 0 : most * node.max];
    }
  }
}

class Parser {
  private at = 0;
  private groups = 0;
  private depth = 0;
  private readonly open = new Set<number>();
  private readonly names = new Map<string, number>();
  private readonly characters: readonly string[];

  constructor(source: string) {
    this.characters = Array.from(source);
  }

  parse(): Pattern {
    const flags = this.globalFlags();
    const root = this.choice(flags);
    if (this.at < this.characters.length) throw new UnknownPattern();
    return { root, groupCount: this.groups };
  }

  private peek(text: string): boolean {
    return Array.from(text).every((each, offset) => this.characters[this.at + offset] === each);
  }

  private take(text: string): boolean {
    if (!this.peek(text)) return false;
    this.at += Array.from(text).length;
    return true;
  }

  private next(): string {
    const character = this.characters[this.at++];
    if (character === undefined) throw new UnknownPattern();
    return character;
  }

  private until(end: string): string {
    let text = "";
    while (!this.peek(end)) text += this.next();
    this.at += 1;
    return text;
  }

  private globalFlags(): Flags {
    const [whole = ""] = /^(?:\(\?[aimsu]+\))*/.exec(this.characters.join("")) ?? [];
    this.at = whole.length;
    return withFlags(NO_FLAGS, whole.replaceAll(/[^aimsu]/g, ""), "");
  }

  private choice(flags: Flags): Node {
    if (++this.depth > MAX_DEPTH) throw new UnknownPattern();
    const nodes = [this.sequence(flags)];
    while (this.take("|")) nodes.push(this.sequence(flags));
    this.depth -= 1;
    return nodes.length === 1 && nodes[0] ? nodes[0] : { kind: "choice", nodes };
  }

  private sequence(flags: Flags): Node {
    const nodes: Node[] = [];
    while (this.at < this.characters.length && !this.peek("|") && !this.peek(")")) {
      nodes.push(this.repeated(this.atom(flags)));
    }
    return { kind: "sequence", nodes };
  }

  private repeated(body: Node): Node {
    const counts = this.counts();
    if (counts === null) return body;
    const mode = this.take("?") ? "lazy" : this.take("+") ? "possessive" : "greedy";
    const [min, max] = counts;
    const [least] = widths(body);
    // What is repeated and may be empty differs between engines.
    if (body.kind === "at" || body.kind === "look" || (least === 0 && max > 1)) throw new UnknownPattern();
    if (this.counts() !== null) throw new UnknownPattern();
    return { kind: "repeat", body, min, max, mode };
  }

  private counts(): [number, number] | null {
    if (this.take("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.take("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.take("?")) return [0, 1];
    const rest = this.characters.slice(this.at, this.at + 24).join("");
    const [whole, min = "", comma, max = ""] = /^\{(\d*)(,)?(\d*)\}/.exec(rest) ?? [];
    if (whole === undefined || whole === "{}") return null;
    if (min === "" && max === "") throw new UnknownPattern();
    this.at += whole.length;
    const least = Number(min);
    const most = comma === undefined ? least : max === "" ? Number.POSITIVE_INFINITY : Number(max);
    if (most < least || least > MAX_COUNT) throw new UnknownPattern();
    return [least, most];
  }

  private atom(flags: Flags): Node {
    const character = this.next();
    switch (character) {
      case ".":
        return { kind: "set", matches: flags.dotAll ? () => true : (each) => each !== "\n" };
      case "^":
        return flags.multiline ? LINE_START : TEXT_START;
      case "$":
        return flags.multiline ? LINE_END : TEXT_END;
      case "(":
        return this.group(flags);
      case "[":
        return this.set(flags);
      case "\\":
        return this.escape(flags);
      case "*":
      case "+":
      case "?":
        throw new UnknownPattern();
      case "{":
        this.at -= 1;
        if (this.counts() !== null) throw new UnknownPattern();
        this.at += 1;
        return literal("{", flags);
      default:
        return literal(character, flags);
    }
  }

  private group(flags: Flags): Node {
    if (!this.take("?")) return this.captured(flags, null);
    if (this.take("P<")) return this.captured(flags, this.until(">"));
    if (this.take("P=")) {
      const index = this.names.get(this.until(")"));
      if (index === undefined || this.open.has(index)) throw new UnknownPattern();
      return { kind: "reference", index, ignoreCase: flags.ignoreCase };
    }
    if (this.take("#")) {
      this.until(")");
      return { kind: "sequence", nodes: [] };
    }
    if (this.take(":")) return this.closed(this.choice(flags));
    if (this.take(">")) return { kind: "atomic", body: this.closed(this.choice(flags)) };
    for (const [opening, isNegated, isBehind] of LOOKS) {
      if (!this.take(opening)) continue;
      const body = this.closed(this.choice(flags));
      const [least, most] = widths(body);
      if (isBehind && least !== most) throw new UnknownPattern();
      return { kind: "look", body, isNegated, width: isBehind ? least : null };
    }
    const [whole, on = "", off = ""] =
      /^([ims]*)(?:-([ims]+))?:/.exec(this.characters.slice(this.at, this.at + 12).join("")) ?? [];
    if (whole === undefined) throw new UnknownPattern();
    this.at += whole.length;
    return this.closed(this.choice(withFlags(flags, on, off)));
  }

  private captured(flags: Flags, name: string | null): Node {
    const index = ++this.groups;
    if (name !== null) {
      if (!/^[A-Za-z_]\w*$/.test(name) || this.names.has(name)) throw new UnknownPattern();
      this.names.set(name, index);
    }
    this.open.add(index);
    const body = this.closed(this.choice(flags));
    this.open.delete(index);
    return { kind: "group", index, body };
  }

  private closed(node: Node): Node {
    if (!this.take(")")) throw new UnknownPattern();
    return node;
  }

  private escape(flags: Flags): Node {
    const character = this.next();
    switch (character) {
      case "A":
        return TEXT_START;
      case "Z":
        return { kind: "at", holds: ({ text }, at) => at === text.length };
      case "b":
      case "B":
        return boundary(character === "B", flags);
    }
    if (/[1-9]/.test(character)) {
      const second = this.characters[this.at] ?? "";
      const third = this.characters[this.at + 1] ?? "";
      if (/\d/.test(second) && /\d/.test(third)) throw new UnknownPattern();
      const digits = /\d/.test(second) ? `${character}${this.next()}` : character;
      const index = Number(digits);
      if (index > this.groups || this.open.has(index)) throw new UnknownPattern();
      return { kind: "reference", index, ignoreCase: flags.ignoreCase };
    }
    const found = this.escaped(character, flags);
    return typeof found === "string" ? literal(found, flags) : { kind: "set", matches: found };
  }

  /** One character, or those of a class. */
  private escaped(character: string, flags: Flags): string | ((character: string) => boolean) {
    const name = character.toLowerCase();
    const named = "dsw".includes(name) ? CLASSES[name] : undefined;
    if (named !== undefined) return oneOf(named[flags.ascii ? 1 : 0], false, name !== character);
    const control = CONTROLS[character];
    if (control !== undefined) return control;
    const length = { x: 2, u: 4, U: 8 }[character];
    if (length !== undefined) {
      const digits = Array.from({ length }, () => this.next()).join("");
      if (!/^[0-9a-fA-F]+$/.test(digits) || Number.parseInt(digits, 16) > 0x10ffff)
        throw new UnknownPattern();
      return String.fromCodePoint(Number.parseInt(digits, 16));
    }
    if (character === "0") {
      let digits = "";
      while (digits.length < 2 && /[0-7]/.test(this.characters[this.at] ?? "")) digits += this.next();
      return String.fromCodePoint(Number.parseInt(`0${digits}`, 8));
    }
    if (/[0-9A-Za-z]/.test(character)) throw new UnknownPattern();
    return character;
  }

  private set(flags: Flags): Node {
    const isNegated = this.take("^");
    const tests: ((character: string) => boolean)[] = [];
    let [source, isFirst] = ["", true];
    // Python warns of what may become an operation on sets, and the API refuses it.
    if (this.peek("[")) throw new UnknownPattern();
    while (isFirst || !this.peek("]")) {
      if (["--", "&&", "~~", "||", "[:"].some((each) => this.peek(each))) throw new UnknownPattern();
      const low = this.member(flags);
      isFirst = false;
      if (typeof low !== "string") {
        tests.push(low);
        if (this.peek("-") && this.characters[this.at + 1] !== "]") throw new UnknownPattern();
        continue;
      }
      if (!this.peek("-") || this.characters[this.at + 1] === "]") {
        source += unit(low);
        continue;
      }
      this.at += 1;
      const high = this.member(flags);
      if (typeof high !== "string" || codePoint(high) < codePoint(low)) throw new UnknownPattern();
      source += `${unit(low)}-${unit(high)}`;
    }
    this.at += 1;
    if (source !== "") tests.push(oneOf(source, flags.ignoreCase, false));
    return { kind: "set", matches: (each) => tests.some((test) => test(each)) !== isNegated };
  }

  private member(flags: Flags): string | ((character: string) => boolean) {
    const character = this.next();
    if (character !== "\\") return character;
    const next = this.next();
    if (/[1-9]/.test(next)) throw new UnknownPattern();
    return this.escaped(next, flags);
  }
}

const LOOKS = [
  ["=", false, false],
  ["!", true, false],
  ["<=", false, true],
  ["<!", true, true],
] as const;

const TEXT_START: Node = { kind: "at", holds: (_, at) => at === 0 };
const LINE_START: Node = { kind: "at", holds: ({ text }, at) => at === 0 || text[at - 1] === "\n" };
const LINE_END: Node = { kind: "at", holds: ({ text }, at) => at === text.length || text[at] === "\n" };
/** Also before a line break at the end. */
const TEXT_END: Node = {
  kind: "at",
  holds: ({ text }, at) => at === text.length || (at === text.length - 1 && text[at] === "\n"),
};

function boundary(isNegated: boolean, flags: Flags): Node {
  const isWord = oneOf(CLASSES["w"]?.[flags.ascii ? 1 : 0] ?? "", false, false);
  const at = (text: readonly string[], index: number) => {
    const character = text[index];
    return character !== undefined && isWord(character);
  };
  return {
    kind: "at",
    holds: ({ text }, place) => (at(text, place - 1) !== at(text, place)) !== isNegated,
  };
}

function withFlags(flags: Flags, on: string, off: string): Flags {
  const is = (letter: string, before: boolean) => (on.includes(letter) || before) && !off.includes(letter);
  const changed = {
    ignoreCase: is("i", flags.ignoreCase),
    multiline: is("m", flags.multiline),
    dotAll: is("s", flags.dotAll),
    ascii: is("a", flags.ascii),
  };
  // Which letters are equal then is not known here.
  if (changed.ascii && changed.ignoreCase) throw new UnknownPattern();
  return changed;
}

function literal(character: string, flags: Flags): Node {
  if (!flags.ignoreCase) return { kind: "set", matches: (each) => each === character };
  return { kind: "set", matches: oneOf(unit(character), true, false) };
}

/** Which characters a class of JavaScript matches; each is asked for once. */
function oneOf(source: string, ignoreCase: boolean, isNegated: boolean): (character: string) => boolean {
  const exact = new RegExp(`^[${source}]$`, "u");
  const folded = ignoreCase ? new RegExp(`^[${source}]$`, "iu") : exact;
  const known = new Map<string, boolean>();
  return (character) => {
    let isOne = known.get(character);
    if (isOne === undefined) {
      const turkish = ignoreCase ? TURKISH[character] : undefined;
      isOne = folded.test(character) || (turkish !== undefined && exact.test(turkish));
      known.set(character, isOne);
    }
    return isOne !== isNegated;
  };
}

/** Letters that Python counts as equal without the case, and JavaScript does not. */
const TURKISH: Readonly<Record<string, string>> = { İ: "i", i: "İ", ı: "I", I: "ı" };

function isSameLetter(one: string, other: string): boolean {
  return oneOf(unit(one), true, false)(other);
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function unit(character: string): string {
  return `\\u{${codePoint(character).toString(16)}}`;
}
