import { describe, expect, it } from "vitest";
import type { Figures } from "../api/types";
import { rankingOf } from "./ranking";

type Column = Figures["columns"][number];

const share = (successes: number, trials: number) => ({
  successes,
  trials,
  share: trials ? successes / trials : null,
  interval95: null,
});

/** A column with as many errors as given, and as many passes among its ten answers. */
function column(name: string, passes: number, errors: number, mean: number | null): Column {
  const estimate = {
    decision: { answers: 10, mean, interval95: null },
    distribution: ["1", "2", "3", "other"].map((code) => ({ code, share: null })),
    passRate: share(passes, 10),
    passRateBounds: errors && {
      errorsAsFailures: share(passes, 10 + errors),
      errorsAsPasses: share(passes + errors, 10 + errors),
    },
    otherRate: share(10 - passes, 10),
  };
  return { name, estimate } as unknown as Column;
}

const COLUMNS = [column("first", 6, 0, 1.5), column("second", 8, 10, 2.5), column("silent", 0, 0, null)];
const ranked = (metric: Figures["metric"]) =>
  rankingOf({ metric, columns: COLUMNS })?.ranks.map(({ name, value, n }) => [name, value, n]);

describe("rankingOf", () => {
  it("puts the highest value of the compared figure first, and leaves out targets without one", () => {
    expect(ranked("DECISION")).toEqual([
      ["second", 2.5, 10],
      ["first", 1.5, 10],
    ]);
    expect(ranked("PASS_RATE")?.map(([name]) => name)).toEqual(["second", "first", "silent"]);
    expect(ranked("OTHER_RATE")?.map(([name]) => name)).toEqual(["silent", "first", "second"]);
  });

  it("counts errors as failures where the comparison does", () => {
    expect(ranked("PASS_RATE_ERRORS_FAIL")?.slice(0, 2)).toEqual([
      ["first", 0.6, 10],
      ["second", 0.4, 20],
    ]);
  });

  it("draws decisions between the least and the greatest code that is a number", () => {
    expect(rankingOf({ metric: "DECISION", columns: COLUMNS })?.axis).toEqual({ min: 1, max: 3 });
  });

  it("ranks nothing if fewer than two targets have a figure", () => {
    expect(rankingOf({ metric: "DECISION", columns: COLUMNS.slice(1) })).toBeNull();
  });
});
