import { type ComponentType, createContext, useContext, useEffect, useState } from "react";
import { otherFields, withOthers } from "../../../lib/content_fields";
import { isContent } from "../../../lib/definitions";
import { type Control, type FieldSpec, isShown, numberOf } from "../../../lib/form_controls";
import { Field } from "../../../ui/field";
import { JsonField } from "../../../ui/json_field";
import { useForm } from "./context";
import styles from "./form.module.css";

export interface ControlProps<C extends Control = Control> {
  control: C;
  path: string;
  value: unknown;
  label: string;
  note?: string | undefined;
  /** If set, an emptied field is stored as an empty text or object; otherwise it is removed. */
  isRequired?: boolean | undefined;
}

export type Of<K extends Control["kind"]> = ControlProps<Extract<Control, { kind: K }>>;

export const idOf = (path: string): string => `content-${path}`;

export const OFFERS = { dimensions: "offered-dimensions", models: "offered-models" };

/** The component that shows a value by its control is in a context because controls contain each other. */
export const ControlContext = createContext<ComponentType<ControlProps>>(() => null);

export function NestedControl(props: ControlProps) {
  const Shown = useContext(ControlContext);
  return <Shown {...props} />;
}

interface NumberInputProps {
  label: string;
  id: string;
  note?: string | undefined;
  error: string | undefined;
  placeholder: string | undefined;
  value: unknown;
  change: (value: number | string | undefined) => void;
}

/** Edits a number. Text that is not a number is passed on unchanged, so that its error can be shown. */
export function NumberInput({ label, id, note, error, placeholder, value, change }: NumberInputProps) {
  const [typed, type] = useState("");
  const text = numberOf(typed) === value ? typed : value === undefined ? "" : String(value);
  return (
    <Field label={label} id={id} note={note} error={error}>
      <input
        id={id}
        inputMode="decimal"
        size={10}
        placeholder={placeholder}
        value={text}
        aria-invalid={error !== undefined}
        aria-describedby={error ? `${id}-error` : undefined}
        onChange={(event) => {
          type(event.target.value);
          change(numberOf(event.target.value));
        }}
      />
    </Field>
  );
}

/** Parses JSON. The value is undefined for an empty text; the result is null if the text is invalid. */
function parsed(text: string): { value: unknown } | null {
  if (text.trim() === "") return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

export function JsonControl({
  control,
  path,
  value,
  label,
  note,
  change,
}: Of<"json"> & { change?: (value: unknown) => void }) {
  const form = useForm();
  const { issues, report } = form;
  const [typed, type] = useState<string | null>(null);
  const written = typed === null ? null : parsed(typed);
  const isInvalid = typed !== null && written === null;
  const isCurrent =
    isInvalid || (written !== null && JSON.stringify(written.value) === JSON.stringify(value));
  const text =
    typed !== null && isCurrent ? typed : value === undefined ? "" : JSON.stringify(value, null, 2);
  useEffect(() => {
    report(path, isInvalid);
    return () => report(path, false);
  }, [report, path, isInvalid]);
  return (
    <div className={styles.json}>
      <JsonField
        label={label}
        id={idOf(path)}
        rows={Math.min(16, Math.max(control.rows ?? 4, text.split("\n").length))}
        path={path}
        isOptional
        value={text}
        issues={issues.filter((each) => each.field === path || each.field.startsWith(`${path}.`))}
        onChange={(next) => {
          type(next);
          const now = parsed(next);
          if (now === null) return;
          if (change) change(now.value);
          else form.change(path, now.value);
        }}
        {...(note !== undefined && { note })}
      />
    </div>
  );
}

/** Shows controls for the listed fields of an object; `OtherFields` shows the others. */
export function Fields({
  fields,
  path,
  value,
}: {
  fields: readonly FieldSpec[];
  path: string;
  value: unknown;
}) {
  const object = isContent(value) ? value : {};
  return fields
    .filter((each) => isShown(each, object))
    .map(({ name, label, control, note, isRequired }) => (
      <NestedControl
        key={name}
        control={control}
        path={`${path}.${name}`}
        value={Object.hasOwn(object, name) ? object[name] : undefined}
        label={label}
        note={note}
        isRequired={isRequired}
      />
    ));
}

/** Shows the fields of an object without a control as JSON; renders nothing if there are none. */
export function OtherFields({
  fields,
  path,
  value,
}: {
  fields: readonly { readonly name: string }[];
  path: string;
  value: unknown;
}) {
  const { change } = useForm();
  const others = otherFields(value, fields);
  if (Object.keys(others).length === 0) return null;
  return (
    <JsonControl
      control={{ kind: "json", rows: 2 }}
      path={`${path}.others`}
      label="Other fields, as JSON"
      note="Fields for which this form has no control"
      value={others}
      change={(next) => change(path, withOthers(value, fields, isContent(next) ? next : {}))}
    />
  );
}
