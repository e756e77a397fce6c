import { expect, test } from "vitest";
import document from "../../../docs/openapi.json?raw";
import { type FieldSpec, fits, variantOf } from "./form_controls";
import { OPERATIONS } from "./operation_fields";

const list = OPERATIONS.control;
const item = list.kind === "list" ? list.item : list;
const variants = item.kind === "variants" ? item.variants : [];
const fieldsOf = (index: number): readonly FieldSpec[] => {
  const control = variants[index]?.control;
  return control?.kind === "object" ? control.fields : [];
};
const paramsOf = (index: number) => {
  const params = fieldsOf(index).find((each) => each.name === "params")?.control;
  return params?.kind === "object" ? params.fields : [];
};
const inside = (fields: readonly FieldSpec[], name: string): readonly FieldSpec[] => {
  const control = fields.find((each) => each.name === name)?.control;
  const inner = control?.kind === "list" ? control.item : control;
  const forms = inner?.kind === "variants" ? inner.variants.map((each) => each.control) : [inner];
  return forms.flatMap((each) => (each?.kind === "object" ? each.fields : []));
};
const schemas: Readonly<Record<string, { readonly properties?: object }>> =
  JSON.parse(document).components.schemas;
const propertiesOf = (name: string) => Object.keys(schemas[name]?.properties ?? {}).sort();
const names = (...fields: readonly FieldSpec[]) => [...new Set(fields.map((each) => each.name))].sort();

test("an operation has all fields of the API, and no others", () => {
  for (const index of variants.keys())
    expect(names(...fieldsOf(index))).toEqual(propertiesOf("OperationInput"));
  expect(names(...paramsOf(0))).toEqual(propertiesOf("TemplateParamsInput"));
  expect(names(...paramsOf(1))).toEqual(propertiesOf("LlmParamsInput"));
  expect(names(...paramsOf(2), ...paramsOf(3))).toEqual(propertiesOf("GuardParamsInput"));
  expect(names(...inside(fieldsOf(0), "artifact"))).toEqual(propertiesOf("ArtifactInput"));
  expect(names(...inside(fieldsOf(0), "effects"))).toEqual(propertiesOf("EffectInput"));
  expect(names(...inside(fieldsOf(0), "runConditions"))).toEqual(propertiesOf("RunConditionInput"));
  expect(names(...inside(paramsOf(2), "outputs"))).toEqual(propertiesOf("GuardOutputInput"));
  expect(names(...inside(paramsOf(1), "output"))).toEqual(propertiesOf("OutputInput"));
});

test("every kind is shown by its own form, and another kind keeps what all have", () => {
  const labels = variants.map((each) => variantOf(variants, each.fresh)?.label);
  expect(labels).toEqual(variants.map((each) => each.label));
  const tone = {
    id: "tone",
    name: "Tone",
    kind: "template",
    hooks: ["after_main_llm", "before_main_llm"],
    triggers: ["generate"],
    params: { template: "x" },
    artifact: { tag: "tone" },
  };
  const guard = variants[2]?.from?.(tone);
  expect(guard).toMatchObject({ id: "tone", kind: "guard", params: { engine: "rules" } });
  expect(guard).toMatchObject({ artifact: { tag: "tone", format: "json" } });
  const text = variants[0]?.from?.(guard);
  expect(text).toMatchObject({ kind: "template", artifact: { tag: "tone" }, hooks: tone.hooks });
  for (const { name, control } of fieldsOf(0))
    expect(fits(control, (tone as Record<string, unknown>)[name])).toBe(true);
  expect(variantOf(variants, { kind: "oracle" })).toBeUndefined();
});
