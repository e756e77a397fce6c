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
    text: null,
    status: "running",
    phase: "before_main_llm",
  });
  expect(first.steps.map((each) => [each.name, each.status])).toEqual([
    ["ONE", "running"],
    ["TWO", "running"],
  ]);
  const second = advance(first, {
    items: [finished(3, "one", "done")],
    text: null,
    status: "running",
    phase: "barrier",
  });
  expect(second.steps.map((each) => each.status)).toEqual(["done", "running"]);
  expect([second.lastSeq, second.phase, second.isOver]).toEqual([3, "barrier", false]);
});

test("events that were read before change nothing", () => {
  const events = {
    items: [started(1, "one"), finished(2, "one", "skipped")],
    text: null,
    status: "running",
  } as const;
  const once = advance(BEGIN, { ...events, phase: "main_llm" });
  expect(advance(once, { ...events, phase: "main_llm" })).toEqual(once);
  expect(once.steps[0]?.note).toBe("a b");
});

test.each(["done", "failed", "aborted"])("a turn that is %s is over", (status) => {
  expect(advance(BEGIN, { items: [], text: null, status, phase: "finished" }).isOver).toBe(true);
});

const piece = (attempt: number, offset: number, text: string) => ({
  items: [],
  text: { attempt, offset, text },
  status: "running",
  phase: "main_llm" as const,
});

test("text of the call is read on, once, in the characters of the API", () => {
  const first = advance(BEGIN, piece(1, 0, "a\u{1F600}"));
  expect(first.draft).toEqual({ attempt: 1, length: 2, text: "a\u{1F600}" });
  expect(advance(first, piece(1, 0, "a\u{1F600}")).draft).toEqual(first.draft);
  const second = advance(first, piece(1, 1, "\u{1F600}b"));
  expect(second.draft).toEqual({ attempt: 1, length: 3, text: "a\u{1F600}b" });
  expect(advance(second, piece(1, 9, "lost")).draft).toEqual(second.draft);
});

test("a later attempt voids the text of earlier ones", () => {
  const first = advance(BEGIN, piece(1, 0, "lost"));
  const second = advance(first, piece(2, 0, "new"));
  expect(second.draft.text).toBe("new");
  expect(advance(second, piece(1, 4, "late")).draft.text).toBe("new");
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
