import { typeOf } from "./assertion_fields";
import { type Content, isContent } from "./definitions";

export interface Check {
  /** It says what is checked, such as `not contains` or `assert-set, at least 0.5`. */
  readonly name: string;
  /** It is what the answer is compared with; empty if the check needs nothing. */
  readonly value: string;
  /** A text is edited where it is shown; other values have fields of their own. */
  readonly isText: boolean;
  /** They are the checks of a set. */
  readonly parts: readonly Check[];
}

/** Describes an assertion in words: its type, its bounds and what the answer is compared with. */
export function checkOf(assertion: Content): Check {
  const { name, isNegated } = typeOf(assertion);
  const { value, threshold, weight, metric, turn } = assertion;
  const facts = [
    `${isNegated ? "not " : ""}${name || "no type"}`,
    threshold !== undefined && threshold !== null && `threshold ${String(threshold)}`,
    typeof weight === "number" && weight !== 1 && `weight ${weight}`,
    typeof metric === "string" && metric !== "" && `as ${metric}`,
    turn !== undefined && turn !== null && `turn ${String(turn)}`,
  ];
  const parts = Array.isArray(assertion["assert"]) ? assertion["assert"].filter(isContent).map(checkOf) : [];
  return {
    name: facts.filter(Boolean).join(", "),
    value: valueText(value),
    isText: typeof value === "string",
    parts,
  };
}

/** Returns a value as a person writes it: items of a list are separated by semicolons, entries by commas. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(valueText).join("; ");
  if (isContent(value))
    return Object.entries(value)
      .map(([name, each]) => `${name}: ${valueText(each)}`)
      .join(", ");
  return String(value);
}

/** Returns a check as one line, with those of a set in brackets. */
export function checkText({ name, value, parts }: Check): string {
  const inside = parts.length === 0 ? "" : ` (${parts.map(checkText).join("; ")})`;
  return `${name}${value === "" ? "" : ` ${value}`}${inside}`;
}
