import { type ReactNode, useId } from "react";
import { isContent } from "../../../lib/definitions";
import { type FieldSpec, isShown } from "../../../lib/form_controls";
import { useToggle } from "../../../ui/fold";
import page from "../../../ui/page.module.css";
import { useForm, useHasIssues, useIssues } from "./context";
import { Fields, idOf, type Of, OtherFields } from "./control";
import styles from "./form.module.css";
import { GroupError } from "./group_error";

/** Edits an object by its fields, and its other fields. */
export function ObjectControl(props: Of<"object">) {
  const { control, path, value, label, note } = props;
  const { fields, isFolded = false, mayRestore = false, layout } = control;
  const error = useIssues(
    path,
    fields.filter((each) => isShown(each, isContent(value) ? value : {})).map((each) => each.name),
  );
  const restored = mayRestore ? fields.filter((each) => isContent(value) && value[each.name] === null) : [];
  const heading = useId();
  const group = (
    <fieldset
      className={layout === "row" ? styles.row : layout === "entry" ? styles.entry : styles.group}
      aria-labelledby={isFolded ? heading : undefined}
    >
      {!isFolded && <legend>{label}</legend>}
      {note && <p className={page.note}>{note}</p>}
      <GroupError error={error} />
      <div className={layout === "columns" ? styles.columns : styles.fields}>
        <Fields fields={fields.filter((each) => !restored.includes(each))} path={path} value={value} />
        {mayRestore && <Restored fields={fields} restored={restored} path={path} value={value} />}
        <OtherFields fields={fields} path={path} value={value} />
      </div>
    </fieldset>
  );
  if (!isFolded) return group;
  return (
    <Folded heading={heading} label={label} fields={fields} path={path} value={value}>
      {group}
    </Folded>
  );
}

interface FoldedProps {
  heading: string;
  label: string;
  fields: readonly FieldSpec[];
  path: string;
  value: unknown;
  children: ReactNode;
}

/** Opens if something is set or was refused; names the set fields. */
function Folded({ heading, label, fields, path, value, children }: FoldedProps) {
  const names = isContent(value) ? Object.keys(value) : [];
  const set = names.map((name) => fields.find((each) => each.name === name)?.label.toLowerCase() ?? name);
  const [isOpen, toggle] = useToggle(names.length > 0);
  const isUnfolded = useHasIssues(path) || isOpen;
  return (
    <details className={styles.fold} open={isUnfolded} onToggle={toggle}>
      <summary>
        <span id={heading}>{label}</span>
        <span className={page.note}>{set.length === 0 ? " not set" : `: ${set.join(", ")}`}</span>
      </summary>
      {isUnfolded && children}
    </details>
  );
}

interface RestoredProps {
  fields: readonly FieldSpec[];
  restored: readonly FieldSpec[];
  path: string;
  value: unknown;
}

/** Lists fields of null, which remove values of other layers, so that the provider's own default applies. */
function Restored({ fields, restored, path, value }: RestoredProps) {
  const { change } = useForm();
  const [isOpen, toggle] = useToggle(restored.length > 0);
  const offered = fields.filter(
    ({ name }) => !isContent(value) || value[name] === undefined || value[name] === null,
  );
  return (
    <details className={styles.fold} open={isOpen} onToggle={toggle}>
      <summary>
        Defaults of the provider
        <span className={page.note}>
          {restored.length === 0 ? "" : `: ${restored.map((each) => each.label.toLowerCase()).join(", ")}`}
        </span>
      </summary>
      <p className={page.note}>Chosen parameters have the provider’s default, whatever else sets them.</p>
      <fieldset className={styles.choices} aria-label="Parameters with the provider’s default">
        {offered.map(({ name, label }) => (
          <label key={name} className={page.check}>
            <input
              type="checkbox"
              id={`${idOf(`${path}.${name}`)}-restored`}
              checked={restored.some((each) => each.name === name)}
              onChange={(event) => change(`${path}.${name}`, event.target.checked ? null : undefined)}
            />
            {label}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
