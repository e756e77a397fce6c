import { AnswerFormatInput, JudgedEvaluatorInput } from "../api/limits";
import type { Schemas } from "../api/types";
import { parseDecimal, parseTags, parseWhole } from "./forms";
import { parseText } from "./json_text";

type Evaluators = Schemas["EvaluatorsInput"];
type Format = Schemas["AnswerFormatInput"];

export interface JudgedValues {
  readonly isOn: boolean;
  /** If empty, it is the run's judge. */
  readonly judge: string;
  /** If empty, the judge decides without a score. */
  readonly threshold: string;
}

export interface EvaluatorValues {
  readonly goal: JudgedValues;
  readonly toxicity: JudgedValues;
  readonly refusal: boolean;
  readonly format: boolean;
  readonly external: "workspace" | "none" | "own";
  readonly url: string;
}

const JUDGED: JudgedValues = { isOn: true, judge: "", threshold: "" };
export const ALL_EVALUATORS: EvaluatorValues = {
  goal: JUDGED,
  toxicity: JUDGED,
  refusal: true,
  format: true,
  external: "workspace",
  url: "",
};

/** Returns a score; null for an empty field, undefined for text that is no score. */
export function parseShare(text: string): number | null | undefined {
  return parseDecimal(text, JudgedEvaluatorInput.threshold);
}

/** Returns the values that differ from the default evaluators; undefined while a field is wrong. */
export function evaluatorsInput(values: EvaluatorValues): Partial<Evaluators> | undefined {
  const [goal, toxicity] = [judgedInput(values.goal), judgedInput(values.toxicity)];
  const isOwn = values.external === "own";
  if (goal === undefined || toxicity === undefined || (isOwn && values.url.trim() === "")) return undefined;
  return {
    ...(goal !== true && { goal }),
    ...(toxicity !== true && { toxicity }),
    ...(!values.refusal && { refusal: false }),
    ...(!values.format && { format: false }),
    ...(values.external === "none" && { external: null }),
    ...(isOwn && { external: { url: values.url.trim() } }),
  };
}

function judgedInput({ isOn, judge, threshold }: JudgedValues): Evaluators["goal"] | undefined {
  if (!isOn) return false;
  const least = parseShare(threshold);
  if (least === undefined) return undefined;
  if (judge.trim() === "" && least === null) return true;
  return {
    ...(judge.trim() !== "" && { judgeModel: judge.trim() }),
    ...(least !== null && { threshold: least }),
  } as Schemas["JudgedEvaluatorInput"];
}

export interface FormatValues {
  readonly kind: "any" | "json" | "xml";
  /** It is JSON; an empty text accepts any JSON. */
  readonly schema: string;
  /** They are separated by commas; an empty text accepts any XML. */
  readonly elements: string;
  readonly pattern: string;
  readonly minWords: string;
  readonly maxWords: string;
}

export const ANY_FORMAT: FormatValues = {
  kind: "any",
  schema: "",
  elements: "",
  pattern: "",
  minWords: "",
  maxWords: "",
};

/** Returns null for any answer; undefined while a field is wrong. */
export function formatInput(values: FormatValues): Partial<Format> | null | undefined {
  const schema = values.kind === "json" ? schemaOf(values.schema) : null;
  const [least, most] = [
    parseWhole(values.minWords, AnswerFormatInput.minWords),
    parseWhole(values.maxWords, AnswerFormatInput.maxWords),
  ];
  if (schema === undefined || least === undefined || most === undefined) return undefined;
  if (least !== null && most !== null && least > most) return undefined;
  const format = {
    ...(schema !== null && { jsonSchema: schema }),
    ...(values.kind === "xml" && { xmlElements: parseTags(values.elements) }),
    ...(values.pattern !== "" && { pattern: values.pattern }),
    ...(least !== null && { minWords: least }),
    ...(most !== null && { maxWords: most }),
  };
  return Object.keys(format).length > 0 ? format : null;
}

function schemaOf(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  const parsed = parseText(text);
  if ("error" in parsed || typeof parsed.value !== "object" || parsed.value === null) return undefined;
  return Array.isArray(parsed.value) ? undefined : (parsed.value as Record<string, unknown>);
}
