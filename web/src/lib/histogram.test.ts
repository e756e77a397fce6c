import fc from "fast-check";
import { expect, test } from "vitest";
import { binOf, binsOfRange, distributions, makeBins, rangeOfBins } from "./histogram";
import { METRICS, type Metric } from "./probes";

const values = fc.array(fc.float({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 60 });
const metrics = fc.constantFrom<Metric>(...METRICS);
const binsOf = (figures: readonly number[], metric: Metric) => {
  const bins = makeBins(Float32Array.from(figures), metric);
  if (bins === null) throw new Error("no bins");
  return bins;
};

test("the bins have every known value exactly once, and are few", () => {
  fc.assert(
    fc.property(values, metrics, (figures, metric) => {
      const all = Float32Array.from([...figures, Number.NaN]);
      const bins = binsOf([...all], metric);
      const indexes = Int32Array.from(all.keys());
      const [found] = distributions(bins, all, indexes, () => 0, 1);
      expect(found?.counts.reduce((sum, each) => sum + each, 0)).toBe(figures.length);
      expect(found?.known).toBe(figures.length);
      expect(bins.starts.length).toBeLessThan(60);
      expect(new Set(bins.starts).size).toBe(bins.starts.length);
    }),
  );
});

test("a range made of bins has exactly the values in them", () => {
  fc.assert(
    fc.property(values, metrics, fc.nat(), fc.nat(), (figures, metric, one, other) => {
      const bins = binsOf(figures, metric);
      const [a, b] = [one % bins.starts.length, other % bins.starts.length];
      const [first, last] = [Math.min(a, b), Math.max(a, b)];
      const range = rangeOfBins(bins, first, last) ?? {};
      for (const value of Float32Array.from(figures)) {
        const isWithin =
          value >= Math.fround(range.from ?? -1) &&
          value < Math.fround(range.below ?? Number.POSITIVE_INFINITY);
        const bin = binOf(bins, value);
        expect(isWithin).toBe(bin >= first && bin <= last);
      }
      expect(binsOfRange(bins, range)).toEqual([first, last]);
    }),
  );
});

test("scores have the same axis in every run", () => {
  const bins = binsOf([0.7, 1], "score");
  expect(bins.starts).toHaveLength(20);
  expect([bins.starts[0], bins.starts[14], bins.starts[19], bins.isOpen]).toEqual([0, 0.7, 0.95, false]);
  expect([binOf(bins, Math.fround(0.7)), binOf(bins, 1)]).toEqual([14, 19]);
});

test("one value far from the others leaves the last bin open", () => {
  const bins = binsOf([...Array.from({ length: 199 }, (_, index) => 100 + index), 90_000], "time");
  expect(bins.isOpen).toBe(true);
  expect(bins.starts.at(-1)).toBeLessThan(300);
});

test("nothing that is known, nothing drawn", () => {
  expect(makeBins(Float32Array.from([Number.NaN]), "cost")).toBeNull();
});
