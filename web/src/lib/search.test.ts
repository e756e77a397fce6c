import { defaultParseSearch, defaultStringifySearch } from "@tanstack/react-router";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PAIR_MEASURES } from "./pair_measures";
import { DECISIONS, METRICS, OUTCOMES, PROBE_ORDERS, SHOWN } from "./probes";
import { MODES, ROW_ORDERS } from "./result_rows";
import {
  CHANGES,
  chatSearch,
  compareSearch,
  definitionSearch,
  definitionsSearch,
  experimentSearch,
  loginSearch,
  newSearch,
  reportSearch,
  resultsSearch,
  runsSearch,
  STATUSES,
  safePath,
  scenariosSearch,
  versionSearch,
} from "./search";

const word = fc.string({ minLength: 1, maxLength: 40 });
const option = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const version = fc.integer({ min: 1, max: 9_999_999 });
const routes = [
  [
    runsSearch,
    fc.record({
      status: option(fc.constantFrom(...STATUSES)),
      name: option(word),
      definition: option(word),
      experiment: option(word),
      eval: option(word),
      tag: option(word),
      sort: option(fc.constant("createdAt")),
    }),
  ],
  [versionSearch, fc.record({ v: option(version) })],
  [experimentSearch, fc.record({ target: option(word), measure: option(fc.constantFrom(...PAIR_MEASURES)) })],
  [chatSearch, fc.record({ branch: option(word) })],
  [definitionsSearch, fc.record({ name: option(word), folder: option(word), tag: option(word) })],
  [definitionSearch, fc.record({ v: option(version), against: option(version) })],
  [
    scenariosSearch,
    fc.record({
      q: option(word),
      sort: option(word),
      cols: option(fc.array(word, { maxLength: 5 })),
    }),
  ],
  [reportSearch, fc.record({ version: option(word) })],
  [
    resultsSearch,
    fc.record({
      target: option(word),
      mode: option(fc.constantFrom(...MODES)),
      where: option(fc.constantFrom("tone=short", "a=b=c", "x=")),
      since: option(word),
      vars: option(fc.constantFrom("tone", "tone,tier")),
      lines: option(fc.constantFrom("6", "all")),
      beside: option(fc.constant(true)),
      find: option(word),
      column: option(fc.nat(9_999)),
      outcome: option(fc.constantFrom(...OUTCOMES)),
      decision: option(fc.constantFrom(...DECISIONS)),
      tag: option(word),
      check: option(word),
      error: option(word),
      said: option(word),
      cols: option(fc.subarray([...SHOWN]).map((each) => each.join(".") || "none")),
      q: option(word),
      by: option(fc.constantFrom(...METRICS)),
      order: option(fc.constantFrom(...PROBE_ORDERS, ...ROW_ORDERS, "input", "-var.a b")),
      group: option(word),
      t: option(fc.nat(9_999_999)),
      score: option(fc.constantFrom("0.2~0.7", "~0.5", "1e-7~", "0~1e+21")),
      cost: option(fc.constantFrom("~0.00002", "3~")),
    }),
  ],
  [
    compareSearch,
    fc.record({
      a: option(word),
      b: option(word),
      only: option(fc.constantFrom(...CHANGES)),
      row: option(fc.integer({ min: 1, max: 200 })),
      s: option(word),
      repeat: option(fc.integer({ min: 1, max: 9_999 })),
      c: option(word),
    }),
  ],
  [newSearch, fc.record({ definition: option(word) })],
] as const;

test.each(routes.map(([parse, states]) => [parse.name, parse, states] as const))(
  "every state of %s survives the address",
  (_, parse, states) => {
    fc.assert(
      fc.property(states as fc.Arbitrary<Record<string, unknown>>, (state) => {
        const wanted = parse(state);
        expect(parse(defaultParseSearch(defaultStringifySearch(wanted)))).toEqual(wanted);
      }),
    );
  },
);

test.each([runsSearch, compareSearch, experimentSearch, resultsSearch, newSearch, loginSearch])(
  "anything else falls back to the defaults",
  (parse) => {
    fc.assert(
      fc.property(fc.dictionary(word, fc.constantFrom(null, true, [], {}, -1, 1.5)), (raw) => {
        expect(parse(raw)).toEqual({});
      }),
    );
  },
);

test.each([
  "//evil.example",
  "/\\evil.example",
  "https://evil.example",
  "javascript:alert(1)",
  "runs",
  "/a\nb",
])("after signing in, the page does not go to %s", (to) => expect(safePath(to)).toBeUndefined());

test("after signing in, the page goes to an address of its own", () => {
  expect(safePath("/runs/run_1?t=3")).toBe("/runs/run_1?t=3");
});
