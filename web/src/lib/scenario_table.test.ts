import fc from "fast-check";
import { expect, test } from "vitest";
import { checkOf, checkText } from "./checks";
import {
  checkChange,
  editedText,
  nextSorting,
  parseSorting,
  type Row,
  rateOf,
  ratesByScenario,
  shownRows,
  shownVariables,
  sortingText,
  typedValue,
  variableChange,
  variableColumns,
  variableKey,
} from "./scenario_table";

const row = (id: string, fields: Partial<Row> = {}): Row => ({
  id,
  name: "",
  messages: [{ role: "user", content: `about ${id}` }],
  dimensions: {},
  metadata: {},
  ...fields,
});
const ROWS = [
  row("a", { name: "Late", metadata: { vars: { item: "kettle 10", tone: "angry" } } }),
  row("b", { name: "broken", metadata: { vars: { item: "kettle 9" } }, dimensions: { delay: 5 } }),
  row("c", { assertions: [{ type: "not-contains", value: "Refund" }], metadata: { source: "desk" } }),
];
const ids = (rows: readonly Row[]) => rows.map((each) => each.id).join("");
const show = (words: string, sort?: string) =>
  ids(
    shownRows(ROWS, {
      words,
      sorting: parseSorting(sort, variableColumns(ROWS)),
      rates: ratesByScenario([
        { scenarioId: "a", judged: 4, successes: 1 },
        { scenarioId: "a", judged: 4, successes: 3 },
        { scenarioId: "c", judged: 2, successes: 2 },
        { scenarioId: "b", judged: 0, successes: 0 },
      ]),
    }),
  );

test("the most frequent variables come first, and the first four have a column unless others are chosen", () => {
  const all = variableColumns(ROWS);
  expect(all.map(variableKey)).toEqual(["vars.item", "vars.tone", "dimensions.delay"]);
  const many = Array.from({ length: 6 }, (_, index) => ({ kind: "variable", name: `v${index}` }) as const);
  expect(shownVariables(many, undefined)).toHaveLength(4);
  expect(shownVariables(all, ["dimensions.delay", "vars.gone"])).toEqual([
    { kind: "dimension", name: "delay" },
  ]);
  expect(shownVariables(all, [])).toEqual([]);
});

test("words are found in names, messages, variables and checks, whatever their case", () => {
  expect(show("LATE")).toBe("a");
  expect(show("about")).toBe("abc");
  expect(show("kettle 9")).toBe("b");
  expect(show("refund")).toBe("c");
  expect(show("desk")).toBe("");
});

test("numbers in texts are sorted as numbers, and rows without a value come last in both directions", () => {
  expect(show("", "vars.item")).toBe("bac");
  expect(show("", "-vars.item")).toBe("abc");
  expect(show("", "name")).toBe("bca");
  expect(show("", "rate")).toBe("acb");
  expect(show("", "-rate")).toBe("cab");
  expect(show("", "none")).toBe("abc");
});

test("a column is sorted ascending, then descending, then not, as the address says it", () => {
  const column = { kind: "variable", name: "item" } as const;
  const first = nextSorting(undefined, column);
  expect(first && sortingText(first)).toBe("vars.item");
  const second = nextSorting(first, column);
  expect(second && sortingText(second)).toBe("-vars.item");
  expect(nextSorting(second, column)).toBeUndefined();
  expect(nextSorting(second, "name")).toEqual({ column: "name", isDescending: false });
});

test("pass rates of targets are added, and one without a result is unknown", () => {
  const rates = ratesByScenario([
    { scenarioId: "a", judged: 3, successes: 1 },
    { scenarioId: "a", judged: 1, successes: 1 },
    { scenarioId: "b", judged: 0, successes: 0 },
  ]);
  expect([rateOf(rates, "a"), rateOf(rates, "b"), rateOf(rates, "c"), rateOf(undefined, "a")]).toEqual([
    0.5,
    null,
    null,
    null,
  ]);
});

test("a changed variable leaves the other metadata as they are", () => {
  const before = row("a", {
    metadata: { source: "desk", vars: { item: "cup", count: 3 } },
    dimensions: { delay: 5 },
  });
  expect(variableChange(before, { kind: "variable", name: "count" }, "4")).toEqual({
    metadata: { source: "desk", vars: { item: "cup", count: 4 } },
  });
  expect(variableChange(before, { kind: "dimension", name: "delay" }, "1")).toEqual({
    dimensions: { delay: 1 },
  });
  expect(variableChange(before, { kind: "dimension", name: "delay" }, " ")).toEqual({ dimensions: {} });
  expect(variableChange(before, { kind: "dimension", name: "delay" }, "much")).toEqual({
    dimensions: { delay: "much" },
  });
});

test("any value is edited as a text that gives it again", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(typedValue(editedText(value), value)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  expect(typedValue("12", "text")).toBe("12");
  expect(typedValue("twelve", 12)).toBe("twelve");
});

test("only the value of one check is changed", () => {
  const before = row("a", { assertions: [{ type: "contains", value: "x", weight: 2 }, { type: "is-json" }] });
  expect(checkChange(before, 0, "y")).toEqual({
    assertions: [{ type: "contains", value: "y", weight: 2 }, { type: "is-json" }],
  });
});

test("checks are described in words", () => {
  const describe = (assertion: Record<string, unknown>) => checkText(checkOf(assertion));
  expect(describe({ type: "contains", value: "30 days" })).toBe("contains 30 days");
  expect(describe({ type: "not-icontains-any", value: ["a", "b"], weight: 2 })).toBe(
    "not icontains-any, weight 2 a; b",
  );
  expect(describe({ type: "is-json" })).toBe("is-json");
  expect(describe({ type: "similar", value: "x", threshold: 0.8, metric: "near", weight: 1 })).toBe(
    "similar, threshold 0.8, as near x",
  );
  expect(describe({ type: "is-json", value: { type: "object", required: ["a"] } })).toBe(
    "is-json type: object, required: a",
  );
  expect(describe({ type: "assert-set", threshold: 0.5, assert: [{ type: "equals", value: 4 }] })).toBe(
    "assert-set, threshold 0.5 (equals 4)",
  );
  expect(describe({})).toBe("no type");
  expect(checkOf({ type: "equals", value: 4 }).isText).toBe(false);
});
