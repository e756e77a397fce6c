import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyTable, Outcome, type ProbeTable } from "./probe_table";
import {
  chooseProbes,
  listFigures,
  METRICS,
  OUTCOMES,
  orderProbes,
  PROBE_ORDERS,
  type ProbeChoice,
  valuesOf,
} from "./probes";

const COLUMNS = 3;
const TOTAL = 24;
const figure = fc.option(fc.constantFrom(0, 0.2, 0.7, 1, 3, 1_000), { nil: Number.NaN });
const probe = fc.record({ outcome: fc.constantFrom(...Object.values(Outcome)), figure });

/** Two repeats of four cases with three targets; every figure of a probe is the same. */
function tableOf(probes: readonly { outcome: number; figure: number }[]): ProbeTable {
  const table = emptyTable({ total: TOTAL, columns: COLUMNS, repeats: 2 });
  probes.forEach((each, index) => {
    table.outcome[index] = each.outcome;
    table.cell[index] = (Math.floor(index / 2) % 4) * COLUMNS + Math.floor(index / 8);
    for (const metric of METRICS) valuesOf(table, metric)[index] = each.figure;
  });
  return table;
}

const tables = fc.array(probe, { minLength: TOTAL, maxLength: TOTAL }).map(tableOf);
const bound = fc.option(fc.constantFrom(0, 0.2, 0.7, 1, 2), { nil: undefined });
const range = fc.option(fc.record({ from: bound, below: bound }), { nil: undefined });
const choices: fc.Arbitrary<ProbeChoice> = fc.record({
  columns: fc.option(
    fc.nat(COLUMNS - 1).map((each) => new Set([each])),
    { nil: undefined },
  ),
  outcome: fc.option(fc.constantFrom(...OUTCOMES), { nil: undefined }),
  ranges: fc.record({ score: range, time: range }).map((each) => each as ProbeChoice["ranges"]),
  matching: fc.option(
    fc.array(fc.nat(3)).map((each) => new Set(each)),
    { nil: null },
  ),
});

/** What is listed, said as slowly as possible. */
function isListed(table: ProbeTable, index: number, choice: ProbeChoice): boolean {
  const outcome = table.outcome[index];
  const names = {
    passed: Outcome.PASSED,
    failed: Outcome.FAILED,
    unjudged: Outcome.UNJUDGED,
    errored: Outcome.ERRORED,
  };
  const cell = table.cell[index] ?? 0;
  return (
    outcome !== Outcome.NONE &&
    (choice.outcome === undefined || outcome === names[choice.outcome]) &&
    (choice.columns === undefined || choice.columns.has(cell % COLUMNS)) &&
    (choice.matching === null || choice.matching.has(Math.floor(cell / COLUMNS))) &&
    (["score", "time"] as const).every((metric) => {
      const wanted = choice.ranges[metric];
      const value = valuesOf(table, metric)[index] ?? Number.NaN;
      if (wanted === undefined) return true;
      return (
        value >= Math.fround(wanted.from ?? Number.NEGATIVE_INFINITY) &&
        value < Math.fround(wanted.below ?? Number.POSITIVE_INFINITY)
      );
    })
  );
}

test("the list has exactly the probes that match, in the order of the run", () => {
  fc.assert(
    fc.property(tables, choices, (table, choice) => {
      const expected = Array.from({ length: TOTAL }, (_, index) => index).filter((index) =>
        isListed(table, index, choice),
      );
      expect([...chooseProbes(table, choice)]).toEqual(expected);
    }),
  );
});

test("an order leaves out nothing and puts probes without the figure last", () => {
  fc.assert(
    fc.property(tables, fc.constantFrom(...PROBE_ORDERS), (table, order) => {
      const chosen = chooseProbes(table, { ranges: {}, matching: null });
      const ordered = [...orderProbes(table, chosen, order)];
      expect(ordered.toSorted((one, other) => one - other)).toEqual([...chosen]);
      const figures = ordered.map((index) => table.score[index] ?? Number.NaN);
      const known = figures.filter((each) => !Number.isNaN(each));
      expect(figures.slice(0, known.length)).toEqual(known);
      const sign = order.startsWith("-") ? -1 : 1;
      expect(known).toEqual(known.toSorted((one, other) => sign * (one - other)));
    }),
  );
});

test("listed probes are counted by outcome", () => {
  const outcomes = [Outcome.FAILED, Outcome.PASSED, Outcome.FAILED, Outcome.ERRORED];
  const table = tableOf(outcomes.map((outcome) => ({ outcome, figure: 1 })));
  expect(listFigures(table, Int32Array.from([3, 2, 1, 0]))).toEqual({ passed: 1, judged: 3, errored: 1 });
});
