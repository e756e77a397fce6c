import type { ComparisonRow } from "../api/types";
import { formatCount, formatMs, formatShare, formatUsd, UNKNOWN } from "./format";

export type OperatingFigure = keyof ComparisonRow["operations"]["baseline"];

const usd = (value: number) => formatUsd(Number(value.toPrecision(6)));
const FIGURES: Record<OperatingFigure, readonly [name: string, format: (value: number) => string]> = {
  costUsd: ["Cost of a conversation", usd],
  judgeCostUsd: ["Its judges", usd],
  simulatedUserCostUsd: ["Its simulated users", usd],
  operationsCostUsd: ["Its operations", usd],
  tokens: ["Tokens", formatCount],
  medianDurationMs: ["Median time", formatMs],
  p95DurationMs: ["95th percentile of the time", formatMs],
  errorRate: ["Errored", formatShare],
  otherRate: ["Without a decision", formatShare],
};
export const OPERATING_FIGURES = Object.keys(FIGURES) as OperatingFigure[];

export function operatingName(figure: OperatingFigure): string {
  return FIGURES[figure][0];
}

export function formatOperating(figure: OperatingFigure, value: number | null): string {
  return value === null ? UNKNOWN : FIGURES[figure][1](value);
}

/** Formats a difference with its sign; shares are in percentage points. */
export function formatOperatingDifference(figure: OperatingFigure, value: number | null): string {
  if (value === null) return UNKNOWN;
  const size = FIGURES[figure][1](Math.abs(value)).replace("%", " pp");
  const isZero = !/[1-9]/.test(size);
  return isZero ? size : `${value > 0 ? "+" : "−"}${size}`;
}
