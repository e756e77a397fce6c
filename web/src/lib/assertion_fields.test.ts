import { expect, test } from "vitest";
import examples from "./assertion_examples.json";
import { ASSERTION_TYPES, assertionFields, assertionType, typeOf, withType } from "./assertion_fields";
import { otherFields } from "./content_fields";
import type { Content } from "./definitions";
import { type Control, fits, variantOf } from "./form_controls";

/** What of a value is edited as JSON because no control shows it. */
function asJson(control: Control, value: unknown, path: string): string[] {
  if (value === undefined) return [];
  if (!fits(control, value)) return [path];
  switch (control.kind) {
    case "list":
      return (value as unknown[]).flatMap((each, index) => asJson(control.item, each, `${path}.${index}`));
    case "object":
      return [
        ...Object.keys(otherFields(value, control.fields)).map((name) => `${path}.${name}`),
        ...control.fields.flatMap((each) =>
          asJson(each.control, (value as Content)[each.name], `${path}.${each.name}`),
        ),
      ];
    case "variants":
      return asJson(variantOf(control.variants, value)?.control ?? { kind: "json" }, value, path);
    default:
      return [];
  }
}

/** `tests/unit/scoring/test_page_assertion_types.py` has them accepted. */
test.each(examples as Content[])("an assertion has a control for all of it: %j", (example) => {
  const type = assertionType(typeOf(example).name);
  if (type === undefined) throw new Error("no such type");
  const { main, more } = assertionFields(type, 0);
  const fields = [
    { name: "type", label: "", control: { kind: "text", max: 100 } as const },
    ...main,
    ...more,
  ];
  expect(asJson({ kind: "object", fields }, example, "")).toEqual([]);
});

test("every type keeps an assertion of its own as it is", () => {
  for (const example of examples as Content[]) {
    const { config: _, ...rest } = example;
    expect(withType(rest, typeOf(rest).name, 0)).toEqual(rest);
  }
});

test("from any type to any other and back, what no type knows stays", () => {
  for (const example of examples as Content[]) {
    for (const { type } of ASSERTION_TYPES) {
      const there = withType({ ...example, custom: 1 }, type, 0);
      expect([there["custom"], typeOf(there).name]).toEqual([1, type]);
      expect(there["weight"]).toBe(example["weight"]);
    }
  }
});
