/** Formats the changes of costs and times of the target's calls, paired by scenario. */

import type { ComparisonRow } from "../api/types";
import { formatCount, formatMs, formatP, formatRatio, formatRatios, formatUsd } from "./format";

export type UsageRatio = ComparisonRow["costRatio"];

export interface ReportRatio {
  readonly scenarios: number;
  readonly ratio: number | null;
  readonly interval95: readonly number[] | null;
  readonly adjustedP: number | null;
}

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

/**
 * Returns `+20.0% (+10.0% to +30.9%), adjusted p 0.003, n = 5`, as far as it is known; the number of scenarios only if
 * it is not the one that is passed.
 */
export function changeText(ratio: ReportRatio, scenarios: number): string {
  const change = formatRatio(ratio.ratio);
  if (ratio.ratio === null) return change;
  const bounds = formatRatios(ratio.interval95);
  const p = ratio.adjustedP === null ? "" : `, adjusted p ${formatP(ratio.adjustedP)}`;
  const n = ratio.scenarios === scenarios ? "" : `, n = ${formatCount(ratio.scenarios)}`;
  return `${change}${bounds && ` (${bounds})`}${p}${n}`;
}

const REASONS: Record<string, string> = {
  notCompleted: "not completed on both sides",
  unknown: "unknown",
  cached: "answered from a cache",
  free: "with a conversation that cost nothing",
};

/**
 * Says why common scenarios have no ratio: `2 unknown, 1 with a conversation that cost nothing`; empty if all have one.
 */
export function leftOutText(leftOut: Readonly<Record<string, number>>): string {
  return Object.entries(leftOut)
    .map(([reason, count]) => `${formatCount(count)} ${REASONS[reason] ?? reason}`)
    .join(", ");
}
