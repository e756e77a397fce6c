import { expect, test } from "vitest";
import { formatDifference, formatDifferences, rowName } from "./comparison";

test("a difference has its sign, that of rates in percentage points", () => {
  expect(formatDifference("PASS_RATE", 0.083)).toBe("+8.3 pp");
  expect(formatDifference("PASS_RATE", -0.0001)).toBe("0.0 pp");
  expect(formatDifference("DECISION", -0.4)).toBe("−0.40");
  expect(formatDifference("DECISION", null)).toBe("–");
});

test("the ends of an interval of differences are told apart by a word", () => {
  expect(formatDifferences("DECISION", [-0.43, -0.2])).toBe("−0.43 to −0.20");
  expect(formatDifferences("PASS_RATE", [0.01, 0.2])).toBe("+1.0 pp to +20.0 pp");
});

test("a row is named after its target, or after both if they differ", () => {
  const column = (modelId: string, promptId: string | null = null) => ({
    targetId: modelId,
    modelId,
    promptId,
    label: null,
    connectorId: null,
  });
  expect(rowName({ baseline: [column("a/b")], comparison: [column("a/b")] })).toBe("a/b");
  expect(rowName({ baseline: [column("a/b", "kind")], comparison: [column("c/d")] })).toBe("a/b, kind → c/d");
});
