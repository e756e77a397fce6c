/** Figures as text. An unknown figure is "unknown", never 0. */

export const UNKNOWN = "unknown";
const integer = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function formatCount(value: number): string {
  return integer.format(value);
}

/** `noun` in the plural unless there is exactly one. */
export function counted(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** With two significant digits below ten cents, so that a price is never rounded to 0. */
export function formatUsd(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (value === 0) return "$0";
  if (value >= 0.0995)
    return `$${value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${value.toLocaleString("en", { maximumSignificantDigits: 2, maximumFractionDigits: 12 })}`;
}

export function formatShare(value: number | null): string {
  return value === null ? UNKNOWN : `${(value * 100).toFixed(1)}%`;
}

/** With a word instead of a dash where a dash could be taken for a sign. */
export function formatInterval(
  interval: readonly number[] | null | undefined,
  format: (value: number) => string,
): string {
  const [low, high] = interval ?? [];
  if (low === undefined || high === undefined) return "";
  return low < 0 ? `${format(low)} to ${format(high)}` : `${format(low)}–${format(high)}`;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.round(hours / 24)} days`;
}

export function formatMs(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? UNKNOWN : formatSeconds(ms / 1000);
}

/** "3 min ago", for a time up to a week ago; then its date. */
export function formatAgo(time: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (seconds < 45) return "just now";
  if (seconds < 7 * 86_400) return `${formatSeconds(seconds)} ago`;
  return formatDate(time);
}

export function formatDate(time: string): string {
  return new Date(time).toLocaleDateString("en", { year: "numeric", month: "short", day: "numeric" });
}

/** Control and format characters; a joiner within an emoji is part of what one sees. */
const INVISIBLE = /\p{Cc}|(?!\u200d)\p{Cf}|(?<!\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d/gu;
const WHITE_SPACE = new Set(["\n", "\r", "\t"]);

/** Text with the characters that no one sees, such as those that reverse its direction, as their codes. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => (WHITE_SPACE.has(character) ? character : code(character)));
}

function code(character: string): string {
  return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`;
}
