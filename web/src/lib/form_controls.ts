import { type Content, isContent } from "./definitions";

export type Control =
  | {
      readonly kind: "text";
      readonly max: number;
      /** It is set for a text of several lines. */
      readonly rows?: number;
      readonly isCode?: boolean;
      /** These values are offered; others may be typed. */
      readonly offers?: "dimensions" | "models";
      /** A number is shown as it is until it is typed over. */
      readonly mayBeNumber?: boolean;
      readonly placeholder?: string;
    }
  | {
      readonly kind: "number";
      readonly min: number;
      readonly max: number;
      readonly isWhole?: boolean;
      readonly placeholder?: string;
      /** Where the API takes any JSON, text that is no number must not be saved. */
      readonly mustBeNumber?: boolean;
    }
  | {
      /** Its value is a list of two numbers, the lower one first. */
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
      readonly itemName: string;
      readonly max: number;
      readonly fresh: unknown;
      readonly isFolded?: boolean;
      /** Without an item there is no list. */
      readonly isLeftOutEmpty?: boolean;
      /** Nothing depends on the order. */
      readonly isUnordered?: boolean;
    }
  | {
      readonly kind: "entries";
      readonly item: Control;
      readonly itemName: string;
      readonly nameLabel?: string;
      readonly valueLabel?: string;
      readonly max: number;
      readonly fresh: unknown;
    }
  | {
      readonly kind: "object";
      readonly fields: readonly FieldSpec[];
      readonly layout?: "row" | "columns" | "entry";
      /** It is folded unless it is set. */
      readonly isFolded?: boolean;
      /** A field of null restores a default; others leave it as it is. */
      readonly mayRestore?: boolean;
    }
  | { readonly kind: "variants"; readonly variants: readonly Variant[]; readonly label?: string }
  /** Its value has scores by name of the definition's dimensions. */
  | { readonly kind: "scores" }
  /** The value stays as it is, and is not shown. */
  | { readonly kind: "hidden" }
  | { readonly kind: "assertion"; readonly depth: number };

/** Describes one of several forms that a value may have. */
export interface Variant {
  readonly label: string;
  readonly control: Control;
  readonly fresh: unknown;
  /** It selects among values that the controls of several forms can show. */
  readonly isOf?: (value: unknown) => boolean;
  /** It converts a value of another form, or makes a new one without it. */
  readonly from?: (value: unknown) => unknown;
}

export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly control: Control;
  readonly note?: string;
  readonly isRequired?: boolean;
  /** It is shown only while another field has one of these values, or while it is set. */
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

/** Makes a control for an object of any values by names, such as the arguments of a call. */
export const values = (itemName: string): Control => ({
  kind: "entries",
  item: ANY_VALUE,
  itemName,
  max: 1_000,
  fresh: "",
});

/** Tells whether the control can show all of the value; another value is edited as JSON. */
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

export function variantOf(variants: readonly Variant[], value: unknown): Variant | undefined {
  return variants.find((each) => shows(each, value));
}

export function shows({ control, isOf }: Variant, value: unknown): boolean {
  return fits(control, value) && (value === undefined || isOf === undefined || isOf(value));
}

/** Accepts a number, text that was typed for one, or null for nothing. */
function isEnd(value: unknown): boolean {
  return value === null || typeof value === "number" || typeof value === "string";
}

function areScores(value: unknown): boolean {
  return (
    typeof value === "number" ||
    (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "number"))
  );
}

/** Tells whether a value is set: an empty list and false do not count. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
}

/** Tells whether the form has the field for an object. */
export function isShown({ name, when, control }: FieldSpec, object: Content): boolean {
  if (control.kind === "hidden") return false;
  return when === undefined || isSet(object[name]) || when.is.includes(object[when.field]);
}

/** Parses a number; other text stays as it is, for the API to refuse. */
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
