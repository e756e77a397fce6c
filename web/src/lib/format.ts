/**
 * Formats figures as text by the rules of `cupel_core/domain/text/figures.py`; `figure_cases.json` tests both. An
 * unknown figure is `–`, never 0. Numbers round half away from zero, and one that rounds to zero has no sign.
 */

export const UNKNOWN = "–";
const MINUS = "−";
/** From this amount on, money has two decimal places; below, two significant digits. */
const CENTS = 0.0995;
const LEAST_P = 0.001;
/** From this factor on, two decimal places or fewer are used; below, two significant digits. */
const LEAST_FACTOR = 0.1;
const integer = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function formatCount(value: number): string {
  return integer.format(value);
}

/** Returns `noun` in the plural unless there is exactly one. */
export function counted(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** Returns `$0`, `$1,234.50`, or two significant digits below ten cents, so that no price is rounded to 0. */
export function formatUsd(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (value === 0) return "$0";
  const size = Math.abs(value);
  const places = size >= CENTS ? 2 : 1 - Number(size.toExponential().split("e")[1]);
  const digits = grouped(size.toFixed(places));
  return `${value < 0 ? MINUS : ""}$${places > 2 ? digits.replace(/0+$/, "") : digits}`;
}

/** Formats a cost among other facts: an unknown one is named, because a dash alone says nothing. */
export function costText(value: number | null): string {
  return value === null ? `cost ${UNKNOWN}` : formatUsd(value);
}

/** Returns `93.3%` for 0.933. */
export function formatShare(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : `${fixed(100 * value, 1)}%`;
}

/** Returns a difference of shares in percentage points: `+3.5 pp` for 0.035. */
export function formatPoints(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : `${signed(100 * value, 1)} pp`;
}

/** Returns the distance of shares without a sign: `3.5 percentage points` for 0.035. */
export function formatPointsApart(difference: number): string {
  return `${fixed(100 * Math.abs(difference), 1)} percentage points`;
}

/** Returns the change of an amount, `+3.5%` for 1.035, or its factor outside 0.5 to 2, `×2.1`. */
export function formatRatio(ratio: number | null): string {
  return ratio === null ? UNKNOWN : formOfRatios([ratio])(ratio);
}

/** Returns `−3.1% to +38.0%`, or both bounds as factors, `×0.45 to ×1.30`; empty without an interval. */
export function formatRatios(interval: readonly number[] | null): string {
  return formatInterval(interval, formOfRatios(interval ?? []));
}

function formOfRatios(ratios: readonly number[]): (ratio: number) => string {
  const isPercent = ratios.every((each) => each >= 0.5 - 1e-9 && each <= 2 + 1e-9);
  return (ratio) => (isPercent ? `${signed(100 * (ratio - 1), 1)}%` : `×${factor(ratio)}`);
}

function factor(ratio: number): string {
  if (ratio < LEAST_FACTOR) return fixed(ratio, 1 - Number(ratio.toExponential().split("e")[1]));
  return fixed(ratio, ratio >= 10 ? 0 : ratio >= 2 ? 1 : 2);
}

export function formatDecimal(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : fixed(value, 2);
}

export function formatSigned(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : signed(value, 2);
}

/** Returns a p-value as `0.034`, or `< 0.001`, because none is 0. */
export function formatP(p: number | null | undefined): string {
  if (p === null || p === undefined) return UNKNOWN;
  return p < LEAST_P ? "< 0.001" : fixed(p, 3);
}

/** Returns the level of intervals, `95%` for 0.05; 99.9% is not rounded to 100%. */
export function formatConfidence(alpha: number): string {
  return `${fixed(100 * (1 - alpha), 1).replace(/\.0$/, "")}%`;
}

function fixed(value: number, places: number): string {
  const digits = grouped(Math.abs(value).toFixed(places));
  return value < 0 && /[1-9]/.test(digits) ? `${MINUS}${digits}` : digits;
}

function signed(value: number, places: number): string {
  const text = fixed(value, places);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

function grouped(digits: string): string {
  const [whole = "", fraction] = digits.split(".");
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? groups : `${groups}.${fraction}`;
}

/** Returns `67.6% to 100.0%`; empty without an interval. */
export function formatInterval(
  interval: readonly number[] | null | undefined,
  format: (value: number) => string,
): string {
  return interval?.map(format).join(" to ") ?? "";
}

/** Returns `0.50 (0.25 to 0.75)`. */
export function withInterval(
  value: number | null,
  interval: readonly number[] | null,
  format: (value: number | null) => string,
): string {
  const bounds = value === null ? "" : formatInterval(interval, format);
  return bounds ? `${format(value)} (${bounds})` : format(value);
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

/** Returns "3 min ago" for a time up to a week ago, and then its date. */
export function formatAgo(time: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (seconds < 45) return "just now";
  if (seconds < 7 * 86_400) return `${formatSeconds(seconds)} ago`;
  return formatDate(time);
}

export function formatDate(time: string): string {
  return new Date(time).toLocaleDateString("en", { year: "numeric", month: "short", day: "numeric" });
}

const INVISIBLE = /\p{Cc}|(?!\u200d)\p{Cf}|(?<!\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d/gu;
const WHITE_SPACE = new Set(["\n", "\r", "\t"]);

/** Replaces invisible characters, such as those that reverse the direction of text, by their codes. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => (WHITE_SPACE.has(character) ? character : code(character)));
}

function code(character: string): string {
  return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`;
}
