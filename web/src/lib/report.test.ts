import { expect, test } from "vitest";
import { probeIndex, summaryCostText, summaryUsd, systemPrompt, unpricedText } from "./report";

const model = (input: number | null, output: number | null, simulated = false) => ({
  simulated,
  inputUsdPerMillion: input,
  outputUsdPerMillion: output,
});

test("a summary costs what it reads and writes", () => {
  expect(summaryUsd(model(0.25, 2))).toBeCloseTo(0.01);
  expect(summaryUsd(model(null, null, true))).toBe(0);
  expect(summaryUsd(model(0.25, 2, true))).toBeCloseTo(0.01);
  expect(summaryUsd(model(0.25, null))).toBeNull();
});

test("models without a price are named with what they were called for", () => {
  const models = [
    { model: "custom/one", roles: ["target"], calls: 1 },
    { model: "custom/two", roles: ["judge", "persona"], calls: null },
  ];
  expect(unpricedText(models)).toBe("custom/one (target, 1 call); custom/two (judge, persona)");
});

test.each([
  [null, "unknown"],
  [0, "nothing"],
  [0.01, "$0.01"],
])("the cost %s is said", (usd, words) => {
  expect(summaryCostText(usd)).toContain(words);
});

test("a transcript's id names its probe", () => {
  expect(probeIndex("run_01-42")).toBe(42);
  expect(probeIndex("run_01")).toBeUndefined();
});

test("a snapshot without a system prompt has none", () => {
  expect(systemPrompt({ system: "Be brief." })).toBe("Be brief.");
  expect(systemPrompt({})).toBeNull();
  expect(systemPrompt(null)).toBeNull();
});
