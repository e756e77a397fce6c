import type { ScenarioChange } from "../api/types";

export interface PairedPoint {
  readonly x: number;
  readonly y: number;
  readonly change: ScenarioChange["change"];
  /** They lie here, in their given order. */
  readonly scenarios: readonly ScenarioChange[];
}

/** Makes points; scenarios with the same values are one point. */
export function pairedPoints(scenarios: readonly ScenarioChange[]): PairedPoint[] {
  const points = new Map<string, PairedPoint & { scenarios: ScenarioChange[] }>();
  for (const each of scenarios) {
    const key = `${each.baseline} ${each.comparison}`;
    const point = points.get(key);
    if (point) point.scenarios.push(each);
    else points.set(key, { x: each.baseline, y: each.comparison, change: each.change, scenarios: [each] });
  }
  return [...points.values()];
}

export interface Flips {
  /** It counts changes from fewer than half of the repeats to half or more. */
  readonly toPassed: number;
  readonly toFailed: number;
}

/** Counts scenarios whose majority of repeats has changed sides; for rates only. */
export function countFlips(scenarios: readonly ScenarioChange[]): Flips {
  const flips = scenarios.filter((each) => each.baseline >= 0.5 !== each.comparison >= 0.5);
  const toPassed = flips.filter((each) => each.comparison >= 0.5).length;
  return { toPassed, toFailed: flips.length - toPassed };
}
