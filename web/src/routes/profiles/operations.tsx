import { useCallback, useMemo, useState } from "react";
import { changedAt } from "../../lib/content_fields";
import { visible } from "../../lib/format";
import { parseText } from "../../lib/json_text";
import { OPERATIONS } from "../../lib/operation_fields";
import { type Issue, JsonField } from "../../ui/json_field";
import page from "../../ui/page.module.css";
import { FormContext } from "../definitions/form/context";
import { ValueControl } from "../definitions/form/controls";
import styles from "../definitions/form/form.module.css";
import { Offers } from "../definitions/form/parts";

const NO_CONTENT = {};

interface Props {
  /** It is the JSON of the list, which both ways of editing change. */
  text: string;
  change: (next: (text: string) => string) => void;
  issues: readonly Issue[];
  report: (path: string, isInvalid: boolean) => void;
  /** It is true if a field has a value that no profile may have. */
  isIncomplete: boolean;
}

/** Edits operations by their fields, or as JSON; neither is left while the other could not show its value. */
export function Operations({ text, change, issues, report, isIncomplete }: Props) {
  const [isJson, setJson] = useState(false);
  const [isRefused, refuse] = useState(false);
  const list = useMemo(() => listOf(text), [text]);
  const isBlocked = isJson ? list === null : isIncomplete;
  const choose = (wantsJson: boolean) => {
    refuse(isBlocked);
    if (!isBlocked) setJson(wantsJson);
  };
  return (
    <>
      <fieldset className={styles.mode}>
        <legend>Edit the operations</legend>
        {[false, true].map((each) => (
          <label key={String(each)}>
            <input type="radio" name="mode" checked={each === isJson} onChange={() => choose(each)} />
            {each ? "as JSON" : "by their fields"}
          </label>
        ))}
        {isRefused && isBlocked && (
          <p role="alert" className={styles.error}>
            {isJson
              ? "The text is no JSON list. Correct it before you edit the operations by their fields."
              : "A field has JSON that does not parse. Correct it before you edit the operations as JSON."}
          </p>
        )}
      </fieldset>
      {isJson || list === null ? (
        <JsonField
          label="Operations, as JSON"
          id="operations"
          rows={24}
          path="operations"
          note="A list; docs/pipeline.md describes the fields"
          value={text}
          issues={issues}
          onChange={(written) => change(() => written)}
        />
      ) : (
        <OperationFields list={list} change={change} issues={issues} report={report} />
      )}
    </>
  );
}

type FieldsProps = Pick<Props, "change" | "issues" | "report"> & { list: readonly unknown[] };

function OperationFields({ list, change, issues, report }: FieldsProps) {
  const changeAt = useCallback(
    (path: string, value: unknown) =>
      change((text) => {
        const content = changedAt({ operations: listOf(text) ?? [] }, path, value);
        return JSON.stringify(content["operations"] ?? [], null, 2);
      }),
    [change],
  );
  const context = useMemo(
    () => ({ change: changeAt, report, issues: issues.filter((each) => !each.isWarning) }),
    [changeAt, report, issues],
  );
  const warnings = issues.filter((each) => each.isWarning);
  return (
    <div className={styles.fields}>
      <FormContext value={context}>
        <Offers content={NO_CONTENT} />
        <ValueControl
          control={OPERATIONS.control}
          path={OPERATIONS.name}
          value={list}
          label={OPERATIONS.label}
        />
      </FormContext>
      {warnings.length > 0 && (
        <div className={page.warning} role="status">
          <strong>Possible mistakes</strong>
          <ul className={page.list}>
            {warnings.map((each) => (
              <li key={each.field + each.message}>
                <code>{visible(each.field)}</code> {visible(each.message)}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function listOf(text: string): readonly unknown[] | null {
  const parsed = parseText(text);
  return "error" in parsed || !Array.isArray(parsed.value) ? null : parsed.value;
}
