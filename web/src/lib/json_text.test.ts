import fc from "fast-check";
import { expect, test } from "vitest";
import { editable, type Place, parseText, placeOf } from "./json_text";

function placesOf(text: string): ReadonlyMap<string, Place> {
  const parsed = parseText(text);
  if ("error" in parsed) throw new Error(parsed.error);
  return parsed.places;
}

function parts(value: unknown, path = ""): [string, unknown][] {
  const below = (key: string) => (path === "" ? key : `${path}.${key}`);
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [[path, value], ...inner.flatMap(([key, each]) => parts(each, below(key)))];
}

// Names with a dot or none at all have paths that others may have as well. Names with escapes are not generated, because
// JSON.parse of Node 24 mistakes them for each other.
const json = fc.object({
  key: fc.stringMatching(/^[a-zA-Zé]{1,6}$/),
  maxDepth: 4,
  values: [fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)],
});

test("every part of a value is found where it is written", () => {
  fc.assert(
    fc.property(json, fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const places = placesOf(text);
      for (const [path, part] of parts(value)) {
        const place = places.get(path);
        expect(JSON.stringify(JSON.parse(text.slice(place?.start, place?.end)))).toBe(JSON.stringify(part));
        expect(place?.line).toBe(text.slice(0, place?.start).split("\n").length);
      }
    }),
  );
});

test("a name with escapes is found", () => {
  const text = '{"a\\"b\\\\": [1, 23]}';
  const place = placesOf(text).get('a"b\\.1');
  expect(text.slice(place?.start, place?.end)).toBe("23");
});

test("a text is accepted exactly if it is JSON", () => {
  const piece = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"',
    "1",
    "-",
    "0",
    ".5",
    "true",
    "null",
    " ",
    "\n",
    "\\u00",
    "e3",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join("");
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      expect("value" in parseText(text)).toBe(isJson);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['{\n  "a": 1\n  "b": 2\n}', 3, "a comma or } is expected here"],
  ["{\n  a: 1\n}", 2, "a name in double quotes is expected here"],
  ["[1,\n]", 2, "a value is expected here"],
  ["[]\n[]", 2, "nothing is expected after the value"],
  ["", 1, "a value is expected here"],
  ["[".repeat(100), 1, "nested more than 60 levels"],
])("an error names its line: %s", (text, line, message) => {
  const parsed = parseText(text);
  expect("error" in parsed && [parsed.place.line, parsed.error]).toEqual([
    line,
    expect.stringContaining(message),
  ]);
});

test("a field that is missing is at the one that contains it", () => {
  const places = placesOf('[{"params":\n{"a": 1}}]');
  expect(placeOf(places, "0.params.template")?.line).toBe(2);
  expect(placeOf(places, "7.params")).toEqual(places.get(""));
});

test("a text to be edited has no fields that are null, except in schemas", () => {
  const value = { a: null, b: [null, { c: null }], output: { schema: { const: null } } };
  expect(JSON.parse(editable(value))).toEqual({ b: [null, {}], output: { schema: { const: null } } });
});
