import { expect, test } from "vitest";
import type { Message } from "../api/types";
import { type Check, gradeLines, withoutLastReason } from "./grade_lines";

const check = (type: string, passed: boolean | null, reason: string, weight = 1) =>
  ({ type, passed, reason, weight, error: passed === null ? reason : null }) as Check;
const graded = (results: readonly Check[], reason = "joined", decisionText: string | null = null) =>
  ({ scoring: { results, reason }, verdict: null, decisionText }) as unknown as Parameters<
    typeof gradeLines
  >[0];

const JUDGED = check("criteria", false, "It names no limit.");

test("failed checks come first, then those without a result, and passed ones apart", () => {
  const [passed, broken] = [check("equals", true, ""), check("regex", null, "no pattern")];
  const lines = gradeLines(graded([passed, broken, JUDGED]));
  expect(lines.open).toEqual([JUDGED, broken]);
  expect(lines.passed).toEqual([passed]);
  expect(lines.hasCriteria).toBe(true);
});

test("the joined reason is left out where checks have theirs", () => {
  expect(gradeLines(graded([JUDGED])).reason).toBe(null);
  expect(gradeLines(graded([check("cost", true, "", 0)], "no result has a weight")).reason).toBe(
    "no result has a weight",
  );
  expect(gradeLines(graded([], "no criteria or assertions")).reason).toBe("no criteria or assertions");
});

test("a decision's text is left out where a check has it", () => {
  expect(gradeLines(graded([JUDGED], "", "names no limit")).decisionText).toBe(null);
  expect(gradeLines(graded([JUDGED], "", "Refuses.")).decisionText).toBe("Refuses.");
});

test("only the last verdict loses the reason, and only if the check has the same", () => {
  const answer = (reasoning: string) =>
    ({ role: "assistant", reply: { verdict: { reasoning } } }) as unknown as Message;
  const messages = [answer("It names no limit."), answer("It names no limit.")];
  const shown = withoutLastReason(messages, graded([JUDGED]));
  expect(shown.map((each) => each.reply?.verdict?.reasoning)).toEqual(["It names no limit.", ""]);
  expect(withoutLastReason(messages, graded([]))).toEqual(messages);
});
