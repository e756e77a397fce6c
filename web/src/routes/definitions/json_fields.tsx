import { useCallback, useMemo, useState } from "react";
import { changedAt, type Issue, presentContent } from "../../lib/content_fields";
import type { Content } from "../../lib/definitions";
import type { FieldSpec } from "../../lib/form_controls";
import { FormContext, useReports } from "./form/context";
import { ValueControl } from "./form/controls";
import styles from "./form/form.module.css";
import { Offers } from "./form/parts";

const EMPTY: Content = {};

export interface EditedContent {
  readonly content: Content;
  /** They are the names of the fields that differ from the stored ones. */
  readonly changed: readonly string[];
  /** It is true if every field has a valid value. */
  readonly isValid: boolean;
  readonly change: (path: string, value: unknown) => void;
  readonly report: (path: string, isInvalid: boolean) => void;
}

/** Edits JSON by its fields, beginning with the stored one. */
export function useEditedContent(stored: object): EditedContent {
  const [first] = useState(() => presentContent(stored));
  const [content, setContent] = useState(first);
  const [invalid, report] = useReports();
  const change = useCallback(
    (path: string, value: unknown) => setContent((now) => changedAt(now, path, value)),
    [],
  );
  const changed = Object.keys({ ...first, ...content }).filter(
    (name) => JSON.stringify(first[name]) !== JSON.stringify(content[name]),
  );
  return { content, changed, isValid: invalid.size === 0, change, report };
}

interface Props {
  fields: readonly FieldSpec[];
  edited: EditedContent;
  issues: readonly Issue[];
}

/** Shows the fields of JSON that is no definition, such as the targets of a schedule. */
export function JsonFields({ fields, edited: { content, change, report }, issues }: Props) {
  const context = useMemo(() => ({ change, issues, report }), [change, issues, report]);
  return (
    <FormContext value={context}>
      <Offers content={EMPTY} />
      <div className={styles.fields}>
        {fields.map(({ name, label, control, note }) => (
          <ValueControl
            key={name}
            control={control}
            path={name}
            value={content[name]}
            label={label}
            note={note}
          />
        ))}
      </div>
    </FormContext>
  );
}
