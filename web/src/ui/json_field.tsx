import { useMemo, useRef } from "react";
import { visible } from "../lib/format";
import { type Place, parseText, placeOf } from "../lib/json_text";
import { Field } from "./field";
import styles from "./json_field.module.css";

export interface Issue {
  readonly field: string;
  readonly message: string;
  readonly isWarning?: boolean;
}

interface Props {
  label: string;
  id: string;
  rows: number;
  value: string;
  onChange: (value: string) => void;
  issues: readonly Issue[];
  /** It is the path of the text in a request, such as `operations`. */
  path: string;
  note?: string;
  /** If true, an empty text is allowed. */
  isOptional?: boolean;
}

/** Edits JSON as text, and names errors with their lines, which a button selects. */
export function JsonField(props: Props) {
  const { label, id, rows, value, onChange, issues, path, note, isOptional = false } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const parsed = useMemo(() => parseText(value), [value]);
  const rowsShown =
    "error" in parsed && !(isOptional && value.trim() === "")
      ? [{ issue: { field: "", message: parsed.error }, place: parsed.place }]
      : issues
          .map((issue) => ({
            issue,
            place: "error" in parsed ? undefined : placeOf(parsed.places, inner(issue.field, path)),
          }))
          .sort((one, other) => (one.place?.line ?? 0) - (other.place?.line ?? 0));
  const isInvalid = rowsShown.some(({ issue }) => !("isWarning" in issue && issue.isWarning));
  const select = (place: Place) => {
    const area = field.current;
    if (area === null) return;
    area.focus();
    area.setSelectionRange(place.start, place.end);
    const lines = value.split("\n").length;
    area.scrollTop = (area.scrollHeight * Math.max(0, place.line - 3)) / lines;
  };
  return (
    <Field label={label} id={id} note={note}>
      <textarea
        ref={field}
        id={id}
        className={styles.text}
        rows={rows}
        wrap="off"
        spellCheck={false}
        aria-invalid={isInvalid}
        aria-describedby={rowsShown.length > 0 ? `${id}-issues` : undefined}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <ul
        id={`${id}-issues`}
        className={styles.issues}
        aria-label={`Problems of ${label}`}
        aria-live="polite"
      >
        {rowsShown.map(({ issue, place }) => (
          <li key={issue.field + issue.message} data-warning={"isWarning" in issue && issue.isWarning}>
            {place && (
              <button type="button" onClick={() => select(place)}>
                Line {place.line}
              </button>
            )}
            <span>
              {"isWarning" in issue && issue.isWarning ? "Warning: " : "Error: "}
              {issue.field && <code>{visible(issue.field)}</code>} {visible(issue.message)}
            </span>
          </li>
        ))}
      </ul>
    </Field>
  );
}

function inner(field: string, path: string): string {
  return field.startsWith(`${path}.`) ? field.slice(path.length + 1) : "";
}
