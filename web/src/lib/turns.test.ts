import { expect, test } from "vitest";
import { advance, asValue, BEGIN, mainCallOf, stepsOf } from "./turns";

const started = (seq: number, operationId: string) => ({
  seq,
  type: "operation.started",
  data: { hook: "before_main_llm", operationId, operationName: operationId.toUpperCase() },
});
const finished = (seq: number, operationId: string, status: string) => ({
  seq,
  type: "operation.finished",
  data: {
    hook: "before_main_llm",
    operationId,
    operationName: "",
    status,
    durationMs: 5,
    skippedReason: "a_b",
  },
});

test("operations run until their end was read, in the order in which they began", () => {
  const first = advance(BEGIN, {
    items: [started(1, "one"), started(2, "two")],
    status: "running",
    phase: "before_main_llm",
  });
  expect(first.steps.map((each) => [each.name, each.status])).toEqual([
    ["ONE", "running"],
    ["TWO", "running"],
  ]);
  const second = advance(first, { items: [finished(3, "one", "done")], status: "running", phase: "barrier" });
  expect(second.steps.map((each) => each.status)).toEqual(["done", "running"]);
  expect([second.lastSeq, second.phase, second.isOver]).toEqual([3, "barrier", false]);
});

test("events that were read before change nothing", () => {
  const events = { items: [started(1, "one"), finished(2, "one", "skipped")], status: "running" } as const;
  const once = advance(BEGIN, { ...events, phase: "main_llm" });
  expect(advance(once, { ...events, phase: "main_llm" })).toEqual(once);
  expect(once.steps[0]?.note).toBe("a b");
});

test.each(["done", "failed", "aborted"])("a turn that is %s is over", (status) => {
  expect(advance(BEGIN, { items: [], status, phase: "finished" }).isOver).toBe(true);
});

test("records of a turn have values, reasons and errors", () => {
  const [one, two, three] = stepsOf([
    { operationId: "a", name: "A", hook: "after_main_llm", status: "done", value: { x: 1 }, durationMs: 3 },
    {
      operationId: "b",
      name: "B",
      hook: "before_main_llm",
      status: "error",
      error: { code: "c", message: "m" },
    },
    { operationId: "d", hook: "before_main_llm", status: "skipped", skippedReason: "guard_not_matched" },
  ]);
  expect([one?.hook, one?.value, one?.durationMs, one?.note]).toEqual([
    "after_main_llm",
    '{\n  "x": 1\n}',
    3,
    null,
  ]);
  expect([two?.note, two?.durationMs]).toEqual(["c: m", null]);
  expect([three?.name, three?.note]).toEqual(["d", "guard not matched"]);
});

test("figures of the main call that are missing are unknown, not 0", () => {
  expect(mainCallOf({ performed: false })).toEqual({
    wasMade: false,
    finishReason: null,
    durationMs: null,
    costUsd: null,
    tokens: null,
  });
  const call = {
    performed: true,
    finishReason: "user_abort",
    usage: { inputTokens: 3, outputTokens: 4 },
    costUsd: 0,
  };
  expect(mainCallOf(call)).toMatchObject({ finishReason: "user abort", tokens: 7, costUsd: 0 });
});

test("values are shown as text", () => {
  expect([asValue(undefined), asValue("x"), asValue(false), asValue([1])]).toEqual([
    null,
    "x",
    "false",
    "[\n  1\n]",
  ]);
});
