import { formatUsd, visible } from "./format";
import { STATUSES } from "./search";

type Data = Readonly<Record<string, unknown>>;

/** Writes the fields of an event in words; a field of a later release is shown by its name. */
export function eventDetails(data: Data): string {
  const { from, to, ...others } = data;
  const move = typeof from === "string" && typeof to === "string" ? [moveText(from, to)] : [];
  const rest = move.length > 0 ? others : data;
  const fields = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${fieldText(name)}: ${valueText(name, value)}`);
  return [...move, ...fields].join(", ");
}

function moveText(from: string, to: string): string {
  return from === to ? `still ${wordOf(to)}` : `from ${wordOf(from)} to ${wordOf(to)}`;
}

/** Returns a status in lower case; other texts stay as they are. */
function wordOf(text: string): string {
  return STATUSES.some((each) => each === text) ? text.toLowerCase() : visible(text);
}

/** Returns the words of a name such as `pauseReason`; units are with the value. */
function fieldText(name: string): string {
  const words = name.replace(/(Usd|Percent)$/, "").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return visible(words.trim() || name);
}

function valueText(name: string, value: unknown): string {
  if (typeof value === "number" && name.endsWith("Usd")) return formatUsd(value);
  if (typeof value === "number" && /percent$/i.test(name)) return `${value}%`;
  if (typeof value === "string") return wordOf(value);
  if (Array.isArray(value) && value.every((each) => typeof each === "string"))
    return value.map(wordOf).join(" and ");
  if (isFailure(value)) return visible(`${value.where}, ${value.why}`);
  return visible(JSON.stringify(value));
}

function isFailure(value: unknown): value is { where: string; why: string } {
  return typeof value === "object" && value !== null && "where" in value && "why" in value;
}
