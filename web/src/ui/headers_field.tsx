import { visible } from "../lib/format";
import { type HeadersChange, parseHeaders } from "../lib/forms";
import { Field } from "./field";
import styles from "./headers_field.module.css";
import type { Issue } from "./json_field";
import page from "./page.module.css";

interface Props {
  /** They are the names of the stored headers; their values are never shown. */
  stored: readonly string[];
  change: HeadersChange;
  set: (change: HeadersChange) => void;
  issues: readonly Issue[];
  disabled?: boolean;
  note?: string;
}

const NOTE =
  "One a line, such as Authorization: Bearer …; their values are stored as secrets and never shown";

/** Edits secret headers: stored ones are kept, replaced or removed, all together. */
export function HeadersField({ stored, change, set, issues, disabled = false, note = NOTE }: Props) {
  const isWrong = change.kind === "replace" && parseHeaders(change.text) === undefined;
  const error = isWrong
    ? "Lines such as Authorization: Bearer …"
    : issues.map((each) => `${each.field}: ${each.message}`).join("; ");
  const hasText = stored.length === 0 || change.kind === "replace";
  return (
    <fieldset className={styles.headers} disabled={disabled}>
      <legend>Headers</legend>
      {stored.length > 0 && (
        <>
          <Choice kind="keep" change={change} set={set}>
            Keep {visible(stored.join(", "))}
          </Choice>
          <Choice kind="replace" change={change} set={set}>
            Replace all
          </Choice>
          <Choice kind="remove" change={change} set={set}>
            Remove all
          </Choice>
        </>
      )}
      {hasText ? (
        <Field
          label={stored.length > 0 ? "New headers" : "Headers to send"}
          id="headers"
          error={error}
          note={note}
        >
          <textarea
            id="headers"
            rows={3}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={error !== ""}
            aria-describedby={error ? "headers-error" : undefined}
            value={change.kind === "replace" ? change.text : ""}
            onChange={(event) =>
              set(
                stored.length === 0 && event.target.value === ""
                  ? { kind: "keep" }
                  : { kind: "replace", text: event.target.value },
              )
            }
          />
        </Field>
      ) : (
        error && <small className={styles.error}>{error}</small>
      )}
    </fieldset>
  );
}

interface ChoiceProps {
  kind: HeadersChange["kind"];
  change: HeadersChange;
  set: (change: HeadersChange) => void;
  children: React.ReactNode;
}

function Choice({ kind, change, set, children }: ChoiceProps) {
  return (
    <label className={page.check}>
      <input
        type="radio"
        name="headers"
        checked={change.kind === kind}
        onChange={() => set(kind === "replace" ? { kind, text: "" } : { kind })}
      />
      <span>{children}</span>
    </label>
  );
}
