import type { ReactNode } from "react";
import { Field } from "./field";

interface Props {
  label: string;
  id: string;
  value: string;
  maxLength: number;
  rows?: number;
  note?: ReactNode;
  error?: string | undefined;
  disabled?: boolean;
  onChange: (value: string) => void;
}

export function TextField({ label, id, value, maxLength, rows, note, error, disabled, onChange }: Props) {
  const input = {
    id,
    value,
    maxLength,
    disabled,
    "aria-invalid": error ? true : undefined,
    "aria-describedby": error ? `${id}-error` : undefined,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  return (
    <Field label={label} id={id} note={note} error={error}>
      {rows ? <textarea rows={rows} {...input} /> : <input size={40} {...input} />}
    </Field>
  );
}
