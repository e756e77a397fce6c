import { expect, test } from "vitest";
import type { ColumnResults } from "../api/types";
import { accuracyText, isJudgeUncalibrated } from "./judge_accuracy";

function column(trials: number, judgeCalls: number, labels?: number): ColumnResults {
  return {
    estimate: { passRate: { trials } },
    operations: { costs: [{ role: "judge", calls: judgeCalls }] },
    judgeAccuracy: labels === undefined ? null : { labels, kappa: null },
  } as unknown as ColumnResults;
}

test("accuracy is kappa with the number of labels", () => {
  expect(accuracyText({ labels: 60, kappa: 0.714 })).toBe("κ 0.71 from 60 labels");
  expect(accuracyText({ labels: 1, kappa: null })).toBe("no κ from 1 label");
});

test.each([
  [[column(2, 2)], true],
  [[column(2, 0)], false],
  [[column(0, 2)], false],
  [[column(2, 2), column(2, 2, 40)], false],
  [[], false],
])("a judge is uncalibrated if it decided results and nobody has labelled any", (columns, expected) => {
  expect(isJudgeUncalibrated(columns)).toBe(expected);
});
