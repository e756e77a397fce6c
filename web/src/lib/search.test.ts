import { defaultParseSearch, defaultStringifySearch } from "@tanstack/react-router";
import fc from "fast-check";
import { expect, test } from "vitest";
import { loginSearch, newSearch, RESULTS, runsSearch, STATUSES, safePath, transcriptsSearch } from "./search";

const word = fc.string({ minLength: 1, maxLength: 40 });
const option = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const routes = [
  [
    runsSearch,
    fc.record({ status: option(fc.constantFrom(...STATUSES)), name: option(word), definition: option(word) }),
  ],
  [
    transcriptsSearch,
    fc.record({
      model: option(word),
      result: option(fc.constantFrom(...RESULTS)),
      decision: option(word),
      tag: option(word),
      t: option(fc.nat(9_999_999)),
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

test.each([runsSearch, transcriptsSearch, newSearch, loginSearch])(
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
