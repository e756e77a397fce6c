import { useMemo, useRef } from "react";
import {
  ASSERTION_GROUPS,
  assertionFields,
  assertionType,
  isOffered,
  typeOf,
  withNegation,
  withType,
} from "../../../lib/assertion_fields";
import { type Content, isContent } from "../../../lib/definitions";
import type { Control } from "../../../lib/form_controls";
import { visible } from "../../../lib/format";
import { Field } from "../../../ui/field";
import { useToggle } from "../../../ui/fold";
import page from "../../../ui/page.module.css";
import { useForm, useIssues } from "./context";
import { type ControlProps, Fields, idOf, OtherFields } from "./control";
import styles from "./form.module.css";
import { GroupError } from "./group_error";

type Props = ControlProps<Extract<Control, { kind: "assertion" }>>;

/** Edits an assertion with the fields of its type, and no others. */
export function AssertionControl({ control, path, value, label }: Props) {
  const { change } = useForm();
  const assertion: Content = isContent(value) ? value : {};
  const { name, isNegated } = typeOf(assertion);
  const { depth } = control;
  const type = assertionType(name);
  const fields = useMemo(
    () => (type === undefined ? { main: [], more: [] } : assertionFields(type, depth)),
    [type, depth],
  );
  const shown = [...TYPE, ...fields.main, ...fields.more];
  const error = useIssues(
    path,
    shown.map((each) => each.name),
  );
  /** They are the values that it had with other types. */
  const earlier = useRef(new Map<string, Content>());
  const choose = (chosen: string) => {
    earlier.current.set(name, assertion);
    const before = earlier.current.get(chosen);
    change(path, { ...before, ...withType(assertion, chosen, depth) });
  };
  return (
    <fieldset className={styles.group} aria-label={label}>
      <GroupError error={error} />
      <div className={styles.fields}>
        <TypeField path={path} name={name} depth={depth} choose={choose} />
        {type && !type.mayNotNegate && (
          <label className={page.check}>
            <input
              type="checkbox"
              checked={isNegated}
              onChange={(event) => change(path, withNegation(assertion, event.target.checked))}
            />
            Negated: it passes when this fails
          </label>
        )}
        <Fields fields={fields.main} path={path} value={assertion} />
        {fields.more.length > 0 && <More fields={fields.more} path={path} assertion={assertion} />}
        <OtherFields fields={shown} path={path} value={assertion} />
      </div>
    </fieldset>
  );
}

const TYPE = [{ name: "type" }];

interface TypeProps {
  path: string;
  name: string;
  depth: number;
  choose: (name: string) => void;
}

function TypeField({ path, name, depth, choose }: TypeProps) {
  const error = useIssues(`${path}.type`);
  const id = idOf(`${path}.type`);
  const type = assertionType(name);
  return (
    <Field
      label="Type"
      id={id}
      error={error}
      note={type?.help ?? "Not a type of this form: its fields are edited as JSON"}
    >
      <select
        id={id}
        value={name}
        aria-invalid={error !== undefined}
        aria-describedby={error ? `${id}-error` : undefined}
        onChange={(event) => choose(event.target.value)}
      >
        {type === undefined && <option value={name}>{visible(name)}</option>}
        {ASSERTION_GROUPS.map(([group, types]) => (
          <optgroup key={group} label={group}>
            {types
              .filter((each) => isOffered(each, depth) || each.type === name)
              .map((each) => (
                <option key={each.type}>{each.type}</option>
              ))}
          </optgroup>
        ))}
      </select>
    </Field>
  );
}

interface MoreProps {
  fields: ReturnType<typeof assertionFields>["more"];
  path: string;
  assertion: Content;
}

function More({ fields, path, assertion }: MoreProps) {
  const set = fields.filter((each) => Object.hasOwn(assertion, each.name));
  const [isOpen, toggle] = useToggle(set.length > 0);
  const hasIssues = useHasIssuesOf(path, fields);
  const isShown = isOpen || hasIssues;
  return (
    <details className={styles.fold} open={isShown} onToggle={toggle}>
      <summary>
        Options{set.length > 0 && `: ${set.map((each) => each.label.toLowerCase()).join(", ")}`}
      </summary>
      {isShown && (
        <div className={styles.fields}>
          <Fields fields={fields} path={path} value={assertion} />
        </div>
      )}
    </details>
  );
}

function useHasIssuesOf(path: string, fields: MoreProps["fields"]): boolean {
  const { issues } = useForm();
  return fields.some(({ name }) =>
    issues.some(({ field }) => field === `${path}.${name}` || field.startsWith(`${path}.${name}.`)),
  );
}
