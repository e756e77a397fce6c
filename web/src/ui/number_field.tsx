import type { ReactNode } from "react";
import type { Bounds } from "../lib/forms";
import { Field } from "./field";

interface Props {
  label: string;
  id: string;
  value: string;
  change: (text: string) => void;
  error?: string | null | undefined;
  note?: ReactNode;
  size?: number;
  placeholder?: string;
  disabled?: boolean;
  /** An amount of money may have decimals. */
  isAmount?: boolean;
}

export function NumberField({
  label,
  id,
  value,
  change,
  error,
  note,
  size = 8,
  isAmount = false,
  ...rest
}: Props) {
  return (
    <Field label={label} id={id} note={note} error={error}>
      <input
        id={id}
        inputMode={isAmount ? "decimal" : "numeric"}
        size={size}
        aria-invalid={Boolean(error)}
        aria-describedby={error ? `${id}-error` : undefined}
        value={value}
        onChange={(event) => change(event.target.value)}
        {...rest}
      />
    </Field>
  );
}

/** Returns the error of a text that is no whole number within the bounds. */
export function wholeNumberError(bounds: Bounds): string {
  return numberError(bounds, "A whole number");
}

/** Returns the error of a text that is no number within the bounds. */
export function numberError({ min, max }: Bounds, what = "A number"): string {
  return `${what} from ${min}${max === undefined ? "" : ` to ${max.toLocaleString("en")}`}`;
}
