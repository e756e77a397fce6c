/** How the costs and times of the target's calls changed, paired by scenario, as text. */

import type { ComparisonRow } from "../api/types";
import { formatCount, formatInterval, formatMs, formatP, formatPoints, formatUsd, UNKNOWN } from "./format";

export type UsageRatio = ComparisonRow["costRatio"];

export interface Ratios {
  readonly costRatio: UsageRatio;
  readonly timeRatio: UsageRatio;
}

interface Figure {
  readonly name: string;
  readonly ratio: UsageRatio;
  readonly format: (value: number | null) => string;
}

export function figuresOfRatios({ costRatio, timeRatio }: Ratios): readonly Figure[] {
  return [
    { name: "Cost of the calls", ratio: costRatio, format: formatUsd },
    { name: "Time of the calls", ratio: timeRatio, format: formatMs },
  ];
}

/** `+20.0%` for a ratio of 1.2. */
export function formatChange(ratio: number | null): string {
  return ratio === null ? UNKNOWN : formatPoints(ratio - 1).replace(" pp", "%");
}

export function formatChanges(interval: readonly number[] | null): string {
  return formatInterval(interval, formatChange) || UNKNOWN;
}

/** `+20.0% (+10.0% to +30.9%), adjusted p 0.003`, as far as it is known. */
export function changeText(
  ratio: number | null,
  interval: readonly number[] | null,
  adjustedP: number | null,
): string {
  const change = formatChange(ratio);
  if (adjustedP === null) return change;
  const bounds = formatInterval(interval, formatChange);
  return `${change}${bounds && ` (${bounds})`}, adjusted p ${formatP(adjustedP)}`;
}

const REASONS: Record<string, string> = {
  notCompleted: "not completed on both sides",
  unknown: "unknown",
  free: "free of charge on a side",
};

/** Why common scenarios have no ratio: `2 unknown, 1 free of charge on a side`; empty if all have one. */
export function leftOutText(leftOut: Readonly<Record<string, number>>): string {
  return Object.entries(leftOut)
    .map(([reason, count]) => `${formatCount(count)} ${REASONS[reason] ?? reason}`)
    .join(", ");
}
