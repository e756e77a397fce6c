import { expect, test } from "vitest";
import type { Calibration, ColumnCalibration, ColumnResults, LabelSet, Transcript } from "../api/types";
import { checkNames, judgedBySets, judgeReason, rateGroups, ratesText } from "./calibration";

const names = { targetId: "a", promptId: null, promptLabel: null, label: null, modelId: "sim/steady" };
const corrected = {
  method: "POST_STRATIFIED",
  reason: null,
  labelsNeeded: null,
  rate: 0.8,
  interval95: [0.7, 0.9],
  judgeRate: 0.9,
  labelsOnly: { share: 0.75, interval95: [0.6, 0.88] },
};
const column = (changes: object = {}) =>
  ({
    ...names,
    agreement: { judgePassRate: 0.5 },
    corrected: { ...corrected, ...changes },
  }) as unknown as ColumnCalibration;
const calibration = (...columns: ColumnCalibration[]) => ({ columns }) as unknown as Calibration;
const results = (share: number) =>
  [{ ...names, estimate: { passRate: { share, interval95: [0.8, 0.96] } } }] as unknown as ColumnResults[];

test("a target has its rate by the judge, corrected, and by the labels alone", () => {
  const groups = rateGroups(calibration(column()), results(0.9));
  expect(ratesText(groups)).toBe(
    "sim/steady: by the judge 90.0% (80.0% to 96.0%), corrected 80.0% (70.0% to 90.0%), " +
      "labels alone 75.0% (60.0% to 88.0%)",
  );
  expect(groups[0]?.rates.filter((each) => each.isMain).map((each) => each.name)).toEqual(["corrected"]);
});

test("the interval of another rate is not drawn", () => {
  expect(rateGroups(calibration(column()), results(0.7))[0]?.rates[0]?.interval).toBeNull();
  expect(rateGroups(calibration(column()), [])[0]?.rates[0]?.interval).toBeNull();
});

test("without a corrected rate, the judge's own is left", () => {
  const few = { reason: "TOO_FEW_LABELS", labelsNeeded: 20, rate: null, judgeRate: null, labelsOnly: null };
  const [group] = rateGroups(calibration(column(few)), []);
  expect(group?.rates.map((each) => [each.name, each.value])).toEqual([["by the judge", 0.5]]);
});

test("repeated checks are numbered as in statistics", () => {
  expect(checkNames(["a", "b", "a", "a"])).toEqual(["a", "b", "a #2", "a #3"]);
  expect(checkNames(["x".repeat(70)])).toEqual(["x".repeat(60)]);
});

test("the reason is that of the criterion", () => {
  const results = [
    { type: "llm-rubric", metric: null, reason: "first" },
    { type: "llm-rubric", metric: null, reason: "second" },
    { type: "contains", metric: "tone", reason: "" },
  ];
  const transcript = {
    corrected: true,
    verdict: null,
    scoring: { reason: "llm-rubric: first", results },
    result: { reason: "a person says so" },
  } as unknown as Transcript;
  expect(judgeReason(transcript, "result")).toBe("llm-rubric: first");
  expect(judgeReason(transcript, "llm-rubric #2")).toBe("second");
  expect(judgeReason(transcript, "tone")).toBeNull();
  expect(judgeReason({ ...transcript, scoring: null }, "result")).toBeNull();
  const passed = { ...transcript, scoring: { success: true, reason: "everything passed", results } };
  expect(judgeReason(passed as unknown as Transcript, "result")).toBe(
    "llm-rubric: first\nllm-rubric #2: second",
  );
});

test("each criterion is listed once, the newest first", () => {
  const set = (criterion: string, rescoreId: string | null = null) => ({ criterion, rescoreId }) as LabelSet;
  expect(judgedBySets([])).toEqual([{ criterion: "result", rescoreId: null }]);
  const found = judgedBySets([set("tone"), set("result"), set("result", "rsc_1"), set("tone")]);
  expect(found.map((each) => [each.criterion, each.rescoreId])).toEqual([
    ["tone", null],
    ["result", "rsc_1"],
    ["result", null],
  ]);
});
