/** The controls of a form of JSON, and which values they can show. */
import { type Content, isContent } from "./definitions";

export type Control =
  | {
      readonly kind: "text";
      readonly max: number;
      /** Of a text of several lines. */
      readonly rows?: number;
      readonly isCode?: boolean;
      /** What is offered; others may be typed. */
      readonly offers?: "dimensions" | "models";
      /** Shown as it is until it is typed over. */
      readonly mayBeNumber?: boolean;
      readonly placeholder?: string;
    }
  | {
      readonly kind: "number";
      readonly min: number;
      readonly max: number;
      readonly isWhole?: boolean;
      readonly placeholder?: string;
      /** Where the API takes any JSON: what is no number must not be saved. */
      readonly mustBeNumber?: boolean;
    }
  | {
      /** A list of two numbers, the lower one first. */
      readonly kind: "range";
      readonly labels: readonly [string, string];
      readonly min: number;
      readonly max: number;
      readonly placeholders: readonly [string, string];
    }
  | { readonly kind: "choice"; readonly options: readonly string[] }
  | { readonly kind: "flag" }
  | { readonly kind: "json"; readonly rows?: number }
  | {
      readonly kind: "list";
      readonly item: Control;
      /** Of one item, such as "level". */
      readonly itemName: string;
      readonly max: number;
      /** A new item. */
      readonly fresh: unknown;
      /** Its items are folded. */
      readonly isFolded?: boolean;
      /** Without an item there is no list. */
      readonly isLeftOutEmpty?: boolean;
      /** Nothing depends on the order. */
      readonly isUnordered?: boolean;
    }
  | {
      /** An object of values by names of the user's own. */
      readonly kind: "entries";
      readonly item: Control;
      /** Of one entry, such as "argument". */
      readonly itemName: string;
      readonly nameLabel?: string;
      readonly valueLabel?: string;
      readonly max: number;
      /** A new value. */
      readonly fresh: unknown;
    }
  | {
      readonly kind: "object";
      readonly fields: readonly FieldSpec[];
      readonly layout?: "row" | "columns" | "entry";
      /** Folded unless it is set. */
      readonly isFolded?: boolean;
      /** A field of null restores a default; others leave it as it is. */
      readonly mayRestore?: boolean;
    }
  | { readonly kind: "variants"; readonly variants: readonly Variant[]; readonly label?: string }
  /** Scores by name of the definition's dimensions. */
  | { readonly kind: "scores" }
  /** Stays as it is, and is not shown. */
  | { readonly kind: "hidden" }
  | { readonly kind: "assertion"; readonly depth: number };

/** One of several forms that a value may have. */
export interface Variant {
  readonly label: string;
  readonly control: Control;
  readonly fresh: unknown;
  /** Of values that the controls of several forms can show. */
  readonly isOf?: (value: unknown) => boolean;
  /** The value of another form in this one; `fresh` if undefined. */
  readonly from?: (value: unknown) => unknown;
}

export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly control: Control;
  readonly note?: string;
  /** An empty text stays one. */
  readonly isRequired?: boolean;
  /** Only while another field has one of these values, or while it is set. */
  readonly when?: { readonly field: string; readonly is: readonly unknown[] };
}

const LONG = 200_000;
export const line = (max: number): Control => ({ kind: "text", max });
export const prose = (rows: number, max = LONG): Control => ({ kind: "text", max, rows });
export const json = (rows = 4): Control => ({ kind: "json", rows });
export const whole = (min: number, max: number): Control => ({ kind: "number", min, max, isWhole: true });
export const texts = (itemName: string, max: number, item: Control = prose(2)): Control => ({
  kind: "list",
  item,
  itemName,
  max,
  fresh: "",
});
export const MAX_SCORE = 1_000_000_000;

const CONSTANT: Control = { kind: "hidden" };

export const either = (...variants: [label: string, control: Control, fresh: unknown][]): Control => ({
  kind: "variants",
  variants: variants.map(([label, control, fresh]) => ({ label, control, fresh })),
});

/** Any JSON value. */
export const ANY_VALUE: Control = {
  kind: "variants",
  variants: [
    { label: "text", control: prose(2), fresh: "" },
    {
      label: "number",
      control: { kind: "number", min: -Number.MAX_VALUE, max: Number.MAX_VALUE, mustBeNumber: true },
      fresh: 0,
    },
    { label: "true", control: CONSTANT, fresh: true, isOf: (value) => value === true },
    { label: "false", control: CONSTANT, fresh: false, isOf: (value) => value === false },
    { label: "JSON", control: json(4), fresh: {} },
  ],
};

/** An object of any values by names, such as the arguments of a call. */
export const values = (itemName: string): Control => ({
  kind: "entries",
  item: ANY_VALUE,
  itemName,
  max: 1_000,
  fresh: "",
});

/** Whether the control can show all of the value; another value is edited as JSON. */
export function fits(control: Control, value: unknown): boolean {
  if (value === undefined) return true;
  switch (control.kind) {
    case "text":
      return typeof value === "string" || (control.mayBeNumber === true && typeof value === "number");
    case "number":
      return typeof value === "number" || typeof value === "string";
    case "choice":
      return typeof value === "string";
    case "flag":
      return typeof value === "boolean";
    case "json":
    case "hidden":
      return true;
    case "list":
      return Array.isArray(value);
    case "range":
      return Array.isArray(value) && value.length === 2 && value.every(isEnd);
    case "entries":
      return isContent(value) && !Object.hasOwn(value, "");
    case "scores":
      return isContent(value) && Object.values(value).every(areScores);
    case "object":
    case "assertion":
      return isContent(value);
    case "variants":
      return variantOf(control.variants, value) !== undefined;
  }
}

/** The first variant that can show the value. */
export function variantOf(variants: readonly Variant[], value: unknown): Variant | undefined {
  return variants.find((each) => shows(each, value));
}

export function shows({ control, isOf }: Variant, value: unknown): boolean {
  return fits(control, value) && (value === undefined || isOf === undefined || isOf(value));
}

/** A number, what was typed for one, or null for nothing. */
function isEnd(value: unknown): boolean {
  return value === null || typeof value === "number" || typeof value === "string";
}

function areScores(value: unknown): boolean {
  return (
    typeof value === "number" ||
    (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "number"))
  );
}

/** Whether a value says anything: an empty list and false are as good as none. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
}

/** Whether the form has the field for an object. */
export function isShown({ name, when, control }: FieldSpec, object: Content): boolean {
  if (control.kind === "hidden") return false;
  return when === undefined || isSet(object[name]) || when.is.includes(object[when.field]);
}

/** What was typed into a field of numbers: what is no number stays as it is, for the API to refuse. */
export function numberOf(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(trimmed) ? Number(trimmed) : Number.NaN;
  return Number.isFinite(value) ? value : text;
}

export function numberError(
  control: Extract<Control, { kind: "number" }>,
  value: unknown,
): string | undefined {
  if (value === undefined) return undefined;
  const { min, max, isWhole } = control;
  const number = typeof value === "string" ? numberOf(value) : value;
  const isRight =
    typeof number === "number" && number >= min && number <= max && (!isWhole || Number.isInteger(number));
  if (isRight) return undefined;
  const kind = isWhole ? "A whole number" : "A number";
  const isBounded = max < MAX_SCORE || isWhole;
  return isBounded ? `${kind} from ${min.toLocaleString("en")} to ${max.toLocaleString("en")}` : kind;
}
