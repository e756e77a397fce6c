import { formatCount, formatDecimal, formatMs, formatUsd } from "./format";
import type { Metric } from "./probes";

export const METRIC_NAMES: Record<Metric, string> = {
  score: "Score",
  time: "Time",
  cost: "Cost",
  tokens: "Tokens",
  turns: "Turns",
};

/** Formats a figure of one probe, or nothing where it has none. */
export function metricText(metric: Metric, value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return "";
  if (metric === "time") return formatMs(value);
  if (metric === "cost") return formatUsd(Number(value.toPrecision(6)));
  return metric === "score" ? formatDecimal(value) : formatCount(value);
}

/** Formats a bound of an interval in one unit, never rounded to another one's bound. */
export function boundText(metric: Metric, value: number): string {
  const digits = { maximumSignificantDigits: 6, maximumFractionDigits: 12 };
  if (metric === "time") return `${(value / 1000).toLocaleString("en", digits)} s`;
  return metric === "cost" ? `$${value.toLocaleString("en", digits)}` : value.toLocaleString("en", digits);
}
