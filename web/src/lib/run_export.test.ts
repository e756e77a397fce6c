import { expect, test } from "vitest";
import type { Run, Schemas } from "../api/types";
import { csvColumns, csvRow, jsonLine, mergedOutcomes, type Outcome } from "./run_export";

async function* of<T>(...values: T[]): AsyncGenerator<T> {
  yield* values;
}

async function merged(transcripts: number[], errored: number[], labels: [number, string][] = []) {
  const found: Outcome[] = [];
  const sources = {
    transcripts: of(...transcripts.map((probeIndex) => ({ probeIndex }))),
    errored: of(...errored.map((index) => ({ index, error: { code: "timeout" } }))),
    labels: of(
      ...labels.map(
        ([index, value]) => ({ probeId: `run_1-${index}`, value }) as unknown as Schemas["Label"],
      ),
    ),
  };
  for await (const each of mergedOutcomes(sources)) found.push(each);
  return found;
}

const places = (outcomes: readonly Outcome[]) => outcomes.map((each) => each["probeIndex"] ?? each["index"]);

test("transcripts and errors are merged by probe", async () => {
  expect(places(await merged([0, 2, 5], [1, 3, 9]))).toEqual([0, 1, 2, 3, 5, 9]);
  expect(places(await merged([], [1]))).toEqual([1]);
  expect(await merged([], [])).toEqual([]);
});

test("a probe has the labels of people, without its id", async () => {
  const outcomes = await merged(
    [0, 2],
    [3],
    [
      [1, "lost"],
      [2, "passed"],
      [2, "failed"],
    ],
  );
  expect(outcomes.map((each) => each["labels"])).toEqual([
    undefined,
    [{ value: "passed" }, { value: "failed" }],
    undefined,
  ]);
});

test("a line has what an outcome has, without characters that control a terminal", () => {
  const line = jsonLine({ index: 3, error: { code: "timeout" }, text: "a\u001b[2J\u009b\u202eb\nc" });
  expect(JSON.parse(line)).toEqual({
    index: 3,
    error: { code: "timeout" },
    text: "a\u001b[2J\u009b\u202eb\nc",
    probeIndex: 3,
    status: "ERROR",
  });
  expect(line.match(/[\p{Cc}\u202e]/gu)).toEqual(["\n"]);
});

const COLUMNS = ["probeIndex", "status", "passed", "costUsd", "tags", "variables", "question", "answer"];

test("a row has the last message and answer, and no text that a spreadsheet executes", () => {
  const row = csvRow(
    {
      probeIndex: 4,
      result: { success: false },
      scoring: { tags: ["REFUSAL", "SHORT"] },
      costs: [{ role: "target", costUsd: 0.00000123456 }],
      variables: { city: "Köln" },
      content: {
        messages: [
          { role: "user", content: "first" },
          { role: "user", content: '=HYPERLINK("x")' },
          { role: "assistant", content: [{ type: "text", text: "two\nlines" }] },
        ],
      },
    },
    COLUMNS,
  );
  expect(row).toBe(
    '4,COMPLETED,False,0.000001235,REFUSAL SHORT,"{""city"":""Köln""}","\'=HYPERLINK(""x"")","two\nlines"\n',
  );
});

test("unknown values are empty, and 0 is not", () => {
  const outcome = { probeIndex: 0, costs: [{ role: "target", costUsd: 0 }], result: null };
  expect(csvRow(outcome, COLUMNS)).toBe("0,COMPLETED,,0,,,,\n");
  expect(csvRow({ probeIndex: 0 }, ["costUsd", "judgeCostUsd"])).toBe(",\n");
});

test("without a decision rule, there are no columns of decisions", () => {
  const columns = (definitionSnapshot: object | null) =>
    csvColumns({ config: { definitionSnapshot } } as unknown as Run);
  expect(columns({ decision: null })).not.toContain("decisionCode");
  expect(columns({ decision: { pattern: "x" } })).toContain("decisionText");
  expect(columns(null)).toContain("decisionCode");
});
