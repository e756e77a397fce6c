import type { ReactNode } from "react";
import { useModels } from "../api/models";
import { Field } from "./field";

interface Props {
  label: string;
  id: string;
  value: string;
  change: (value: string) => void;
  note?: ReactNode;
  error?: string | undefined;
  disabled?: boolean;
  placeholder?: string;
}

/** Chooses a model by its name; callable ones are offered, and others may be typed. */
export function ModelField({ label, id, value, change, note, error, disabled, placeholder = "none" }: Props) {
  const models = useModels();
  return (
    <Field label={label} id={id} note={note} error={error}>
      <input
        id={id}
        list={`${id}-models`}
        size={40}
        maxLength={256}
        placeholder={placeholder}
        spellCheck={false}
        aria-invalid={Boolean(error)}
        aria-describedby={error ? `${id}-error` : undefined}
        disabled={disabled}
        value={value}
        onChange={(event) => change(event.target.value)}
      />
      <datalist id={`${id}-models`}>
        {(models.data ?? [])
          .filter((each) => each.usable)
          .map((each) => (
            <option key={each.id} value={each.id} />
          ))}
      </datalist>
    </Field>
  );
}
