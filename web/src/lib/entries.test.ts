import fc from "fast-check";
import { expect, test } from "vitest";
import { entriesOf, entryIssues, issuesOfRows, objectOf } from "./entries";

test("any object is the same after its way through rows", () => {
  const name = fc.oneof(fc.string({ minLength: 1 }), fc.constant("__proto__"), fc.constant("a.b"));
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true }), (object) => {
      expect(objectOf(entriesOf(object))).toEqual(object);
      expect(entryIssues(entriesOf(object))).toEqual([]);
    }),
  );
});

test("rows that would be lost are named, and are in no object", () => {
  const rows = [{ name: "a", value: 1 }, { name: "", value: 2 }, { name: "a", value: 3 }, { name: "b" }];
  expect(entryIssues(rows)).toEqual([
    { field: "1.name", message: "A name is missing" },
    { field: "2.name", message: "Another row has the same name" },
    { field: "3.value", message: "A value is missing" },
  ]);
  expect(objectOf(rows)).toEqual({ a: 3 });
  expect(entryIssues([{ name: "a", value: null }])).toEqual([]);
});

test("what is refused leads to the row of the name", () => {
  const rows = [
    { name: "a", value: {} },
    { name: "a.b", value: {} },
  ];
  const at = (field: string) => issuesOfRows([{ field, message: "no" }], "x", rows)[0];
  expect(at("x.a")?.field).toBe("x.0.value");
  expect(at("x.a.c")?.field).toBe("x.0.value.c");
  expect(at("x.a.b.0")?.field).toBe("x.1.value.0");
  expect(at("x.c")).toEqual({ field: "x", message: "c: no" });
  expect(at("y.a")?.field).toBe("y.a");
});
