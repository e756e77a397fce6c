import fc from "fast-check";
import { expect, test } from "vitest";
import {
  ASSERTION_TYPES,
  assertionFields,
  assertionTitle,
  isOffered,
  typeOf,
  withNegation,
  withType,
} from "./assertion_fields";
import {
  changedAt,
  currentIssues,
  moved,
  otherFields,
  ownIssues,
  PARTS,
  presentContent,
  valueAt,
  withOthers,
} from "./content_fields";
import { type Content, isContent } from "./definitions";
import { entriesOf, objectOf } from "./entries";
import { type Control, fits, isShown, numberError, numberOf, type Variant, variantOf } from "./form_controls";

const CONTENT = {
  system: "Be brief.",
  dimensions: [{ name: "risk", levels: [{ score: 1, label: "low", "x.y": { z: null } }] }],
  decision: { pattern: "(\\d)" },
  custom: [1, { a: null }],
};

test("a change at a path changes nothing else", () => {
  expect(changedAt(CONTENT, "dimensions.0.levels.0.label", "none")).toEqual({
    ...CONTENT,
    dimensions: [{ name: "risk", levels: [{ score: 1, label: "none", "x.y": { z: null } }] }],
  });
  expect(changedAt({}, "decision.favors.1", "a")).toEqual({ decision: { favors: { "1": "a" } } });
});

test("a field that is emptied is left out, and so is a rule without fields", () => {
  expect(changedAt(CONTENT, "decision.pattern", undefined)).not.toHaveProperty("decision");
  expect(changedAt(CONTENT, "dimensions.0.levels.0.label", undefined)).toHaveProperty(
    "dimensions.0.levels.0.score",
  );
  const assertions = [{ type: "factuality", config: { agree: 1 } }];
  expect(changedAt({ assertions }, "assertions.0.config.agree", undefined)).toEqual({
    assertions: [{ type: "factuality" }],
  });
});

test("parameters of a prompt are left out once none is set, and no others", () => {
  const prompts = [
    { id: "a", params: { seed: 1 } },
    { id: "b", params: { seed: 2 } },
  ];
  expect(changedAt({ prompts }, "prompts.0.params.seed", undefined)).toEqual({
    prompts: [{ id: "a" }, prompts[1]],
  });
  const stop = changedAt({ prompts }, "prompts.1.params.stop", ["END"]);
  expect(changedAt(stop, "prompts.1.params.seed", undefined)).toEqual({
    prompts: [prompts[0], { id: "b", params: { stop: ["END"] } }],
  });
  const named = changedAt({ prompts }, "prompts.0.params.responseFormat.type", "json");
  expect(changedAt(named, "prompts.0.params.responseFormat.type", undefined)).toEqual({ prompts });
});

const name = fc.stringMatching(/^[a-z_]{1,12}$/);
const anyContent = fc.dictionary(name, fc.jsonValue());

test("what is set at a path is read there, and setting the old value again restores any content", () => {
  fc.assert(
    fc.property(
      anyContent,
      fc.array(name, { minLength: 1, maxLength: 4 }),
      fc.jsonValue(),
      (content, steps, value) => {
        const path = ["top", ...steps].join(".");
        const changed = changedAt(content, path, value);
        expect(valueAt(changed, path)).toEqual(value);
        expect(otherFields(changed, [{ name: "top" }])).toEqual(otherFields(content, [{ name: "top" }]));
        const whole = changedAt(changed, "top", content["top"]);
        expect(whole).toEqual(
          Object.hasOwn(content, "top") ? content : otherFields(content, [{ name: "top" }]),
        );
      },
    ),
  );
});

/** Every value as the form reads it, by the paths of its controls, written into an empty content. */
function writtenAgain(content: Content): Content {
  let written: Content = {};
  const visit = (control: Control, path: string, value: unknown) => {
    if (value === undefined) return;
    if (control.kind === "variants") {
      const variant = variantOf(control.variants, value);
      if (variant !== undefined) return visit(variant.control, path, value);
    }
    if (control.kind === "entries" && fits(control, value)) {
      written = changedAt(written, path, objectOf(entriesOf(value)));
      return;
    }
    if (!fits(control, value) || (control.kind !== "object" && control.kind !== "list")) {
      written = changedAt(written, path, value);
      return;
    }
    if (control.kind === "list") {
      written = changedAt(written, path, []);
      (value as unknown[]).forEach((each, index) => {
        written = changedAt(written, path, [...(valueAt(written, path) as unknown[]), {}]);
        if (control.item.kind === "object" && fits(control.item, each))
          visit(control.item, `${path}.${index}`, each);
        else written = changedAt(written, `${path}.${index}`, each);
      });
      return;
    }
    if (Object.keys(value as Content).length === 0) written = changedAt(written, path, {});
    for (const field of control.fields) {
      const own = Object.hasOwn(value as Content, field.name) ? (value as Content)[field.name] : undefined;
      visit(field.control, `${path}.${field.name}`, own);
    }
    const others = otherFields(value, control.fields);
    if (Object.keys(others).length > 0) {
      written = changedAt(written, path, withOthers(valueAt(written, path), control.fields, others));
    }
  };
  for (const part of PARTS) visit(part.control, part.name, content[part.name]);
  return withOthers(written, PARTS, otherFields(content, PARTS));
}

const level = fc.record(
  {
    score: fc.oneof(fc.integer(), fc.jsonValue()),
    label: fc.string(),
    options: fc.array(fc.string()),
    extra: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const pattern = fc.oneof(
  fc.dictionary(fc.string(), fc.oneof(fc.integer(), fc.array(fc.integer()))),
  fc.jsonValue(),
);
/** What is written field by field is left out once it has none. */
const isNotEmpty = (value: unknown) => !isContent(value) || Object.keys(value).length > 0;
const params = fc
  .record(
    {
      temperature: fc.oneof(
        fc.constant(null),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.jsonValue(),
      ),
      stop: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
      responseFormat: fc
        .oneof(
          fc.record(
            { type: fc.string(), schema: fc.jsonValue(), other: fc.jsonValue() },
            { requiredKeys: [] },
          ),
          fc.jsonValue(),
        )
        .filter(isNotEmpty),
      tools: fc.oneof(fc.array(fc.record({ name: fc.string(), parameters: fc.jsonValue() })), fc.jsonValue()),
      toolChoice: fc.oneof(fc.record({ name: fc.string() }), fc.string(), fc.jsonValue()),
      future: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  .filter(isNotEmpty);
const message = fc.record(
  {
    role: fc.string(),
    content: fc.oneof(
      fc.string(),
      fc.array(
        fc.record({ type: fc.string(), text: fc.string(), width: fc.jsonValue() }, { requiredKeys: [] }),
      ),
      fc.jsonValue(),
    ),
    toolCalls: fc.oneof(fc.array(fc.record({ id: fc.string(), arguments: fc.string() })), fc.jsonValue()),
    isError: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const formContent = fc.record(
  {
    system: fc.oneof(fc.string(), fc.jsonValue()),
    dimensions: fc.oneof(
      fc.array(
        fc.oneof(
          fc.record({ name: fc.string(), levels: fc.array(level) }, { requiredKeys: [] }),
          fc.jsonValue(),
        ),
      ),
      fc.jsonValue(),
    ),
    maxTurns: fc.jsonValue(),
    params: fc.oneof(params, fc.jsonValue().filter(isNotEmpty)),
    prompts: fc.array(
      fc.oneof(
        fc.record({ id: fc.string(), params, messages: fc.array(message) }, { requiredKeys: [] }),
        fc.jsonValue(),
      ),
    ),
    toolResults: fc.array(
      fc.record({
        name: fc.string(),
        arguments: fc.dictionary(fc.string(), fc.jsonValue()),
        result: fc.jsonValue(),
      }),
    ),
    matchingRules: fc.array(
      fc.oneof(
        fc.record({ exclude: pattern, when: pattern, only: pattern }, { requiredKeys: [] }),
        fc.jsonValue(),
      ),
    ),
    assertions: fc.array(fc.jsonValue()),
    followUps: fc.array(fc.string()),
    unknown: fc.jsonValue(),
    ["__proto__"]: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

test("any content is the same after its way through the form", () => {
  fc.assert(
    fc.property(formContent, (content) => {
      expect(writtenAgain(content)).toEqual(content);
    }),
  );
});

test("a value that a control cannot show is none of its own", () => {
  const control = (part: string) => PARTS.find((each) => each.name === part)?.control as Control;
  expect(fits(control("system"), 3)).toBe(false);
  expect(fits(control("dimensions"), { name: "risk" })).toBe(false);
  expect(fits(control("decision"), null)).toBe(false);
  expect(fits(control("maxTurns"), 3)).toBe(true);
  expect(fits(control("system"), undefined)).toBe(true);
});

test("a form shows only values that it can show whole", () => {
  const range: Control = { kind: "range", labels: ["a", "b"], min: 0, max: 1, placeholders: ["", ""] };
  const entries: Control = { kind: "entries", item: { kind: "json" }, itemName: "a", max: 1, fresh: "" };
  const shown = (control: Control, values: unknown[]) => values.map((each) => fits(control, each));
  expect(shown(range, [[0, 1], [null, 1], [0], [0, 1, 2], [0, []], {}])).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(shown(entries, [{}, { "a.b": 1 }, { "": 1 }, [], null])).toEqual([true, true, false, false, false]);
  expect(
    shown({ kind: "scores" }, [{}, { a: 1, b: [1, 2] }, { a: [] }, { a: "1" }, { a: [null] }, []]),
  ).toEqual([true, true, false, false, false, false]);
});

test("a field of some kinds is shown of these, and where it is set", () => {
  const call = {
    name: "id",
    label: "",
    control: { kind: "text", max: 1 } as const,
    when: { field: "role", is: ["tool"] },
  };
  const shown = [{ role: "tool" }, { role: "user" }, { role: "user", id: "x" }, { role: "user", id: [] }, {}];
  expect(shown.map((each) => isShown(call, each))).toEqual([true, false, true, false, false]);
});

test("a rule has the form of its fields, and one of all of them keeps each", () => {
  const rules = PARTS.find((each) => each.name === "matchingRules")?.control;
  const item = rules?.kind === "list" && rules.item.kind === "variants" ? rules.item.variants : [];
  const of = (rule: Content) => item.indexOf(variantOf(item, rule) as Variant);
  expect(
    [{}, { exclude: {} }, { only: {} }, { when: {}, only: {} }, { exclude: {}, only: {} }].map(of),
  ).toEqual([0, 0, 1, 1, 1]);
});

test.each([
  ["", undefined],
  [" 5 ", 5],
  ["-1.5", -1.5],
  ["1e3", 1000],
  ["1e999", "1e999"],
  ["0x10", "0x10"],
  ["five", "five"],
])("%j is typed for %j", (text, value) => {
  expect(numberOf(text)).toBe(value);
});

test("any number that is shown is typed as the same one", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(numberOf(String(value))).toBe(Object.is(value, -0) ? 0 : value);
    }),
  );
});

test("a number beyond its bounds is named with them", () => {
  const whole: Control & { kind: "number" } = { kind: "number", min: 1, max: 1_000, isWhole: true };
  expect(numberError(whole, 1.5)).toBe("A whole number from 1 to 1,000");
  expect(numberError(whole, "x")).toBe("A whole number from 1 to 1,000");
  expect(numberError(whole, 1_000)).toBeUndefined();
  expect(numberError(whole, undefined)).toBeUndefined();
});

test("an item is moved past others", () => {
  expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
  expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
});

test("what was refused is named until it is changed", () => {
  const issues = [
    { field: "decision.pattern", message: "a" },
    { field: "system", message: "b" },
    { field: "", message: "c" },
  ];
  const after = { ...CONTENT, decision: { pattern: "(x)" } };
  expect(currentIssues(issues, CONTENT, after).map((each) => each.message)).toEqual(["b", "c"]);
});

test("an issue is shown by the nearest field", () => {
  const issues = [
    { field: "decision", message: "a" },
    { field: "decision.pattern", message: "b" },
    { field: "decision.favors.1", message: "c" },
    { field: "decisions", message: "d" },
  ];
  expect(ownIssues(issues, "decision", ["pattern"]).map((each) => each.message)).toEqual(["a", "c"]);
  expect(ownIssues(issues, "decision.favors", []).map((each) => each.message)).toEqual(["c"]);
});

test("null stays where it is a value, and goes where it means that a field is absent", () => {
  const stored = {
    system: null,
    template: "t",
    params: {
      temperature: null,
      topP: 1,
      responseFormat: { type: "json", schema: null, name: null },
      tools: [{ name: "f", description: null, parameters: { default: null }, strict: null }],
    },
    dimensions: [{ name: "d", levels: [{ score: 1, label: "l", description: null, options: [] }] }],
    assertions: [{ type: "equals", value: { a: null } }],
    decision: { pattern: "(a)", rubric: null, favors: null },
    toolResults: [
      { name: "a", result: null, error: null, times: null },
      { name: "b", result: null, error: "e", times: 2 },
    ],
    prompts: [
      {
        id: "p",
        label: null,
        messages: [
          { role: "user", content: "c", toolCalls: [], toolCallId: null, isError: false },
          { role: "user", content: [{ type: "text", text: "t", fileId: null, size: null }] },
          { role: "tool", content: "c", toolCalls: [], toolCallId: "1", isError: true },
        ],
        params: { seed: null },
      },
      { id: "q", params: {} },
    ],
  };
  expect(presentContent(stored)).toEqual({
    template: "t",
    params: {
      temperature: null,
      topP: 1,
      responseFormat: { type: "json" },
      tools: [{ name: "f", parameters: { default: null } }],
    },
    dimensions: [{ name: "d", levels: [{ score: 1, label: "l" }] }],
    assertions: [{ type: "equals", value: { a: null } }],
    decision: { pattern: "(a)" },
    toolResults: [
      { name: "a", result: null },
      { name: "b", error: "e", times: 2 },
    ],
    prompts: [
      {
        id: "p",
        messages: [
          { role: "user", content: "c" },
          { role: "user", content: [{ type: "text", text: "t" }] },
          { role: "tool", content: "c", toolCallId: "1", isError: true },
        ],
        params: { seed: null },
      },
      { id: "q" },
    ],
  });
});

test("a type has its fields and no others", () => {
  const names = (type: string) => {
    const found = ASSERTION_TYPES.find((each) => each.type === type);
    if (found === undefined) return null;
    const { main, more } = assertionFields(found, 0);
    return [...main, ...more].map((each) => each.name);
  };
  const common = ["weight", "metric", "tag"];
  expect(names("contains")).toEqual(["value", ...common, "turn", "transform"]);
  expect(names("latency")).toEqual(["threshold", ...common]);
  expect(names("is-refusal")).toEqual([...common, "turn", "transform"]);
  expect(names("trajectory:tool-used")).toEqual(["value", ...common, "turn"]);
  expect(names("llm-rubric")).toEqual([
    "value",
    "threshold",
    ...common,
    "provider",
    "turn",
    "transform",
    "config",
  ]);
  expect(names("assert-set")).toEqual(["assert", "threshold", ...common]);
});

test("another type keeps what its fields can show, and what no type knows", () => {
  const before = { type: "not-contains", value: "refund", weight: 2, turn: 1, custom: { a: 1 } };
  expect(withType(before, "starts-with", 0)).toEqual({ ...before, type: "not-starts-with" });
  expect(withType(before, "latency", 0)).toEqual({ type: "not-latency", weight: 2, custom: { a: 1 } });
  expect(withType(before, "assert-set", 0)).toEqual({
    type: "assert-set",
    weight: 2,
    custom: { a: 1 },
    assert: [],
  });
  expect(withType({ type: "latency", threshold: 900 }, "rouge-n", 0)).toEqual({ type: "rouge-n" });
  expect(withType({ type: "contains", value: "" }, "word-count", 0)).toEqual({ type: "word-count" });
});

test("types are negated, and sets are offered three deep", () => {
  expect(withNegation({ type: "is-json" }, true)).toEqual({ type: "not-is-json" });
  expect(withNegation({ type: "not-is-json" }, false)).toEqual({ type: "is-json" });
  expect(typeOf({ type: "not-is-json" })).toEqual({ name: "is-json", isNegated: true });
  const offered = (depth: number) =>
    ASSERTION_TYPES.filter((each) => isOffered(each, depth)).map((each) => each.type);
  expect(offered(0)).toContain("select-best");
  expect(offered(0)).toContain("max-score");
  expect(offered(1)).not.toContain("select-best");
  expect(offered(1)).not.toContain("max-score");
  expect([offered(2).includes("assert-set"), offered(3).includes("assert-set")]).toEqual([true, false]);
});

test("an assertion is named by its type and value", () => {
  expect(assertionTitle({ type: "contains", value: "refund", metric: "m" })).toBe("contains: refund (m)");
  expect(assertionTitle({ type: 3 })).toBe("no type");
  expect(assertionTitle(null)).toBe("");
});
