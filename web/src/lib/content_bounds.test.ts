import { expect, test } from "vitest";
import document from "../../../docs/openapi.json?raw";
import { PARTS } from "./content_fields";
import type { Control, FieldSpec } from "./form_controls";
import { FURTHER_SCENARIO_FIELDS, SCENARIO_FIELDS } from "./scenario_fields";

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly enum?: readonly string[];
  readonly const?: string;
}

const schemas = (JSON.parse(document) as { components: { schemas: Record<string, Schema> } }).components
  .schemas;

/** What a field may be, but null. */
function alternatives(schema: Schema): Schema[] {
  if (schema.$ref !== undefined) {
    const { $ref, ...own } = schema;
    return alternatives({ ...schemas[$ref.split("/").at(-1) ?? ""], ...own });
  }
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(alternatives);
  if (typeof schema.type === "object")
    return schema.type.flatMap((type) => alternatives({ ...schema, type }));
  return schema.type === "null" ? [] : [schema];
}

/** The differences between a control and the fields of the API. */
function differences(control: Control, schema: Schema, path: string): string[] {
  const [first = {}, ...others] = alternatives(schema);
  const isOther = (name: string, ours: unknown, theirs: unknown) =>
    ours === theirs ? [] : [`${path}: ${name} ${ours}, not ${theirs}`];
  switch (control.kind) {
    case "text":
      return first.maxLength === undefined ? [] : isOther("max", control.max, first.maxLength);
    case "number": {
      const most =
        first.maximum ?? (first.exclusiveMaximum === undefined ? undefined : first.exclusiveMaximum - 1);
      return [
        ...(first.minimum === undefined ? [] : isOther("min", control.min, first.minimum)),
        ...isOther("max", control.max, most),
        ...(first.type === "integer" && others.length === 0 ? isOther("isWhole", control.isWhole, true) : []),
      ];
    }
    case "choice":
      return isOther("options", control.options.join(), first.enum?.join());
    case "list":
      return [
        ...isOther("max", control.max, first.maxItems),
        ...differences(control.item, first.items ?? {}, `${path}.*`),
      ];
    case "variants":
      // The alternatives of the API by the kind of each form.
      return control.variants.flatMap((each) => {
        const type = each.control.kind === "list" ? "array" : "string";
        const own = [first, ...others].find((schema) => schema.type === type);
        const isBoth = each.control.kind === "list" || each.control.kind === "text";
        return isBoth && own !== undefined ? differences(each.control, own, path) : [];
      });
    case "object":
      return first.properties === undefined ? [] : fieldDifferences(control.fields, first.properties, path);
    default:
      return [];
  }
}

function fieldDifferences(
  fields: readonly FieldSpec[],
  properties: Readonly<Record<string, Schema>>,
  path: string,
): string[] {
  const missing = Object.keys(properties).filter((name) => !fields.some((each) => each.name === name));
  return [
    ...missing.map((name) => `${path}.${name}: no control`),
    ...fields.flatMap((each) => {
      const schema = properties[each.name];
      const below = `${path}.${each.name}`;
      return schema === undefined ? [`${below}: not in the API`] : differences(each.control, schema, below);
    }),
  ];
}

test("the form has every field of a content, with the bounds of the API", () => {
  const properties = schemas["DefinitionContent"]?.properties ?? {};
  expect(Object.keys(properties)).toContain("assertions");
  expect(fieldDifferences(PARTS, properties, "content")).toEqual([]);
});

test("the form of a scenario has its fields; levels have controls of their own", () => {
  const { dimensions, ...properties } = schemas["CreateScenario"]?.properties ?? {};
  expect(dimensions).toBeDefined();
  const fields = [...SCENARIO_FIELDS, ...FURTHER_SCENARIO_FIELDS];
  expect(fieldDifferences(fields, properties, "scenario")).toEqual([]);
});
