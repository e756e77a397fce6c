import { memo, useEffect, useRef, useState } from "react";
import { fits, numberError, shows, type Variant } from "../../../lib/form_controls";
import { visible } from "../../../lib/format";
import { Field } from "../../../ui/field";
import page from "../../../ui/page.module.css";
import { AssertionControl } from "./assertion";
import { useForm, useIssues } from "./context";
import {
  ControlContext,
  type ControlProps,
  idOf,
  JsonControl,
  NestedControl,
  NumberInput,
  OFFERS,
  type Of,
} from "./control";
import { EntriesControl } from "./entries";
import styles from "./form.module.css";
import { ListControl } from "./list";
import { ObjectControl } from "./object";
import { RangeControl } from "./range";
import { ScoresControl } from "./scores";

/** Edits a value by its control, or as JSON if the control cannot show it. */
export const ValueControl = memo(function ValueControl(props: ControlProps) {
  return (
    <ControlContext value={ValueControl}>
      <FittingControl {...props} />
    </ControlContext>
  );
});

function FittingControl(props: ControlProps) {
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
}

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

/** Edits one of several forms of a value; returning to an earlier form restores its value. */
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
  // For a form without its own field, the choice shows the error.
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
      <NestedControl
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
