import { memo, useEffect, useRef, useState } from "react";
import { otherFields, withOthers } from "../../../lib/content_fields";
import { isContent } from "../../../lib/definitions";
import {
  type Control,
  type FieldSpec,
  fits,
  isShown,
  numberError,
  numberOf,
  shows,
  type Variant,
} from "../../../lib/form_controls";
import { visible } from "../../../lib/format";
import { Field } from "../../../ui/field";
import { JsonField } from "../../../ui/json_field";
import page from "../../../ui/page.module.css";
import { AssertionControl } from "./assertion";
import { useForm, useIssues } from "./context";
import { EntriesControl } from "./entries";
import styles from "./form.module.css";
import { ListControl } from "./list";
import { ObjectControl } from "./object";
import { RangeControl } from "./range";
import { ScoresControl } from "./scores";

export interface ControlProps<C extends Control = Control> {
  control: C;
  /** Such as `dimensions.0.name`. */
  path: string;
  value: unknown;
  label: string;
  note?: string | undefined;
  /** An empty text stays one. */
  isRequired?: boolean | undefined;
}

export type Of<K extends Control["kind"]> = ControlProps<Extract<Control, { kind: K }>>;

/** A value by its control; one that the control cannot show, as JSON. */
export const ValueControl = memo(function ValueControl(props: ControlProps) {
  const { control, value } = props;
  if (!fits(control, value)) {
    return (
      <JsonControl
        {...props}
        control={{ kind: "json" }}
        note="Not of the usual form, so it is edited as JSON"
      />
    );
  }
  switch (control.kind) {
    case "text":
      return <TextControl {...props} control={control} />;
    case "number":
      return <NumberControl {...props} control={control} />;
    case "choice":
      return <ChoiceControl {...props} control={control} />;
    case "flag":
      return <FlagControl {...props} control={control} />;
    case "json":
      return <JsonControl {...props} control={control} />;
    case "range":
      return <RangeControl {...props} control={control} />;
    case "entries":
      return <EntriesControl {...props} control={control} />;
    case "scores":
      return <ScoresControl {...props} control={control} />;
    case "hidden":
      return null;
    case "list":
      return <ListControl {...props} control={control} />;
    case "object":
      return <ObjectControl {...props} control={control} />;
    case "variants":
      return <VariantsControl {...props} control={control} />;
    case "assertion":
      return <AssertionControl {...props} control={control} />;
  }
});

export const idOf = (path: string): string => `content-${path}`;

export const OFFERS = { dimensions: "offered-dimensions", models: "offered-models" };

function TextControl({ control, path, value, label, note, isRequired }: Of<"text">) {
  const { change } = useForm();
  const error = useIssues(path);
  const id = idOf(path);
  const text = value === undefined ? "" : String(value);
  // A field of one line would drop the others.
  const [isLong] = useState(control.rows !== undefined || text.includes("\n"));
  const { max, rows = 2, isCode = false, offers, placeholder } = control;
  const input = {
    id,
    value: text,
    maxLength: Math.max(max, text.length),
    placeholder,
    spellCheck: !isCode && offers === undefined,
    "data-code": isCode,
    "aria-invalid": error !== undefined,
    "aria-describedby": error ? `${id}-error` : undefined,
    onChange: ({ target }: { target: { value: string } }) =>
      change(path, target.value === "" && !isRequired ? undefined : target.value),
  };
  return (
    <Field label={label} id={id} note={note} error={error}>
      {isLong ? (
        <textarea className={styles.text} rows={rows} {...input} />
      ) : (
        <input className={styles.text} list={offers && OFFERS[offers]} {...input} />
      )}
    </Field>
  );
}

function NumberControl({ control, path, value, label, note }: Of<"number">) {
  const { change, report } = useForm();
  const wrong = numberError(control, value);
  const error = useIssues(path) ?? wrong;
  const isInvalid = control.mustBeNumber === true && wrong !== undefined;
  useEffect(() => {
    report(path, isInvalid);
    return () => report(path, false);
  }, [report, path, isInvalid]);
  return (
    <NumberInput
      label={label}
      id={idOf(path)}
      note={note}
      error={error}
      placeholder={control.placeholder}
      value={value}
      change={(next) => change(path, next)}
    />
  );
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

/** A number as it is typed: what is none stays as it is. */
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

function ChoiceControl({ control, path, value, label, note, isRequired }: Of<"choice">) {
  const { change } = useForm();
  const error = useIssues(path);
  const id = idOf(path);
  const chosen = typeof value === "string" ? value : "";
  const isOther = chosen !== "" && !control.options.includes(chosen);
  return (
    <Field label={label} id={id} note={note} error={error}>
      <select
        id={id}
        value={chosen}
        aria-invalid={error !== undefined}
        aria-describedby={error ? `${id}-error` : undefined}
        onChange={(event) => change(path, event.target.value === "" ? undefined : event.target.value)}
      >
        {(!isRequired || chosen === "") && <option value="">not set</option>}
        {control.options.map((each) => (
          <option key={each}>{each}</option>
        ))}
        {isOther && <option value={chosen}>{visible(chosen)}</option>}
      </select>
    </Field>
  );
}

function FlagControl({ path, value, label, note }: Of<"flag">) {
  const { change } = useForm();
  const error = useIssues(path);
  const id = idOf(path);
  return (
    <div>
      <label className={page.check}>
        <input
          type="checkbox"
          id={id}
          checked={value === true}
          aria-describedby={error ? `${id}-error` : undefined}
          onChange={(event) => change(path, event.target.checked || undefined)}
        />
        {label}
      </label>
      {error ? (
        <small id={`${id}-error`} className={styles.error}>
          {error}
        </small>
      ) : (
        note && <small className={page.note}>{note}</small>
      )}
    </div>
  );
}

/** The value of a text; undefined for none, null for what does not parse. */
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

/** The fields of an object, and what it has besides. */
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
      <ValueControl
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

/** Of an object what the form has no control for; nothing if there is nothing. */
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
      note="What this form has no control for; it stays as it is"
      value={others}
      change={(next) => change(path, withOthers(value, fields, isContent(next) ? next : {}))}
    />
  );
}

/** One of several forms of a value; going back to an earlier one brings back what it had. */
function VariantsControl({ control, path, value, label, note, isRequired }: Of<"variants">) {
  const { change } = useForm();
  const { variants } = control;
  const error = useIssues(path);
  const [chosen, choose] = useState(() => firstFitting(variants, value));
  const earlier = useRef(new Map<number, unknown>());
  const variant = variants[chosen];
  const index = variant && shows(variant, value) ? chosen : firstFitting(variants, value);
  const current = variants[index];
  if (current === undefined) return null;
  const id = `${idOf(path)}-form`;
  // Of a form without a field of its own, the choice says what is wrong.
  const refused = current.control.kind === "hidden" ? error : undefined;
  return (
    <div className={styles.variants}>
      <Field
        label={control.label ?? `Form of ${label.charAt(0).toLowerCase()}${label.slice(1)}`}
        id={id}
        error={refused}
      >
        <select
          id={id}
          aria-invalid={refused !== undefined}
          aria-describedby={refused ? `${id}-error` : undefined}
          value={index}
          onChange={(event) => {
            const next = Number(event.target.value);
            earlier.current.set(index, value);
            choose(next);
            const made = variants[next]?.from?.(value) ?? variants[next]?.fresh;
            change(path, earlier.current.has(next) ? earlier.current.get(next) : structuredClone(made));
          }}
        >
          {variants.map((each, position) => (
            <option key={each.label} value={position}>
              {each.label}
            </option>
          ))}
        </select>
      </Field>
      <ValueControl
        key={index}
        control={current.control}
        path={path}
        value={value}
        label={label}
        note={note}
        isRequired={isRequired}
      />
    </div>
  );
}

function firstFitting(variants: readonly Variant[], value: unknown): number {
  return Math.max(
    0,
    variants.findIndex((each) => shows(each, value)),
  );
}
