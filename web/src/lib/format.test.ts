import fc from "fast-check";
import { describe, expect, test } from "vitest";
import cases from "./figure_cases.json";
import {
  counted,
  formatAgo,
  formatConfidence,
  formatDecimal,
  formatInterval,
  formatMs,
  formatP,
  formatPoints,
  formatPointsApart,
  formatRatio,
  formatRatios,
  formatSeconds,
  formatShare,
  formatSigned,
  formatUsd,
  visible,
  withInterval,
} from "./format";

const FORMS: Record<keyof typeof cases, (value: never) => string> = {
  percent: (value: number | null) => formatShare(value),
  "points apart": (value: number) => formatPointsApart(value),
  points: (value: number | null) => formatPoints(value),
  decimal: (value: number | null) => formatDecimal(value),
  difference: (value: number | null) => formatSigned(value),
  p: (value: number | null) => formatP(value),
  confidence: (alpha: number) => formatConfidence(alpha),
  ratio: (value: number | null) => formatRatio(value),
  "interval of ratios": (value: number[] | null) => formatRatios(value),
  usd: (value: number | null) => formatUsd(value),
  "interval of percents": (value: number[] | null) => formatInterval(value, formatShare),
  "decimal with interval": ([value, interval]: [number | null, number[] | null]) =>
    withInterval(value, interval, formatDecimal),
};

/** The cases are those of the commands and reports (`tests/unit/domain/text/test_figures.py`). */
describe.each(Object.entries(FORMS))("%s", (kind, format) => {
  const pairs = cases[kind as keyof typeof cases] as [unknown, string][];
  test.each(pairs)("%j is %s", (value, text) => {
    expect(format(value as never)).toBe(text);
  });
});

test("an unknown time is not 0", () => expect(formatMs(null)).toBe("–"));

test("a price above 0 is never written as 0", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 1e6, noNaN: true }), (usd) => !/^\$[0.,]*$/.test(formatUsd(usd))),
  );
});

test.each([
  [0.25, "250 ms"],
  [1.25, "1.3 s"],
  [59, "59 s"],
  [240, "4 min"],
  [5400, "1 h 30 min"],
  [3 * 86_400, "3 days"],
])("%d seconds are %s", (seconds, text) => expect(formatSeconds(seconds)).toBe(text));

test("an interval has both ends in the format of its figure", () => {
  expect(formatInterval([0.76, 0.87], formatDecimal)).toBe("0.76 to 0.87");
  expect(formatInterval([-0.43, -0.2], formatDecimal)).toBe("−0.43 to −0.20");
  expect(formatInterval(null, String)).toBe("");
});

test("a count of one has no plural", () =>
  expect([counted(1, "run"), counted(2, "run")]).toEqual(["1 run", "2 runs"]));

test("a time in the last days is relative, an older one is a date", () => {
  const now = Date.parse("2026-11-23T12:00:00Z");
  expect(formatAgo("2026-11-23T11:57:00Z", now)).toBe("3 min ago");
  expect(formatAgo("2026-11-01T12:00:00Z", now)).toBe("Nov 1, 2026");
});

test("characters that reverse or hide text are shown as their codes, line breaks are kept", () => {
  expect(visible("a\u202Eb\n\tc\u200B")).toBe("a[U+202E]b\n\tc[U+200B]");
});

test("the joiner of an emoji is kept", () =>
  expect(visible("👩🏽\u200D💻 a\u200Db")).toBe("👩🏽\u200D💻 a[U+200D]b"));
