import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { ApiError, api, ifMatch, readTagged } from "../../api/client";
import { scenarioQuery, storeScenario } from "../../api/definitions";
import type { Definition, Scenario, Schemas } from "../../api/types";
import type { Content } from "../../lib/definitions";
import { visible } from "../../lib/format";
import { Conflict } from "../../ui/conflict";
import { UnsavedGuard } from "../../ui/unsaved";
import styles from "./scenario_table.module.css";

/** Names the cell that is edited. */
export interface Editing {
  readonly scenario: string;
  readonly column: string;
}

export interface EditableProps {
  definition: Definition;
  scenario: Scenario;
  editing: Editing | null;
  edit: (editing: Editing | null) => void;
  column: string;
  /** It says whose value it is, such as `message of late refund`. */
  label: string;
  text: (scenario: Scenario) => string;
  /** It makes the request of a changed text; null if the value has no place to be edited here. */
  change: ((stored: Scenario, text: string) => Content) | null;
}

/** Shows the beginning of a text; a click edits all of it. */
export function TextCell(props: EditableProps) {
  return (
    <span role="cell">
      <EditableText {...props} />
    </span>
  );
}

export function EditableText(props: EditableProps) {
  const { scenario, editing, edit, column, label, text, change } = props;
  const isEdited = editing?.scenario === scenario.id && editing.column === column;
  const button = useRef<HTMLButtonElement>(null);
  const wasEdited = useRef(false);
  useEffect(() => {
    if (wasEdited.current && !isEdited && editing === null) button.current?.focus();
    wasEdited.current = isEdited;
  }, [isEdited, editing]);
  const shown = visible(text(scenario));
  if (change === null) return <span className={styles.text}>{shown}</span>;
  if (isEdited) return <Editor {...props} change={change} />;
  return (
    <button
      ref={button}
      type="button"
      className={styles.editable}
      title="Edit"
      onClick={() => edit({ scenario: scenario.id, column })}
    >
      <span className={styles.text}>{shown || "–"}</span>
      <span className="hidden-text"> (edit {label})</span>
    </button>
  );
}

type EditorProps = EditableProps & { change: NonNullable<EditableProps["change"]> };

/** Reads the scenario with its ETag before its text is edited, so that nobody's change is lost. */
function Editor(props: EditorProps) {
  const { definition, scenario, edit, label } = props;
  const query = useQuery(scenarioQuery(definition.id, scenario.id));
  if (query.isError)
    return (
      <span role="alert" className={styles.refused}>
        {visible(query.error.message)}
        <button type="button" onClick={() => void query.refetch()}>
          Try again
        </button>
        <button type="button" onClick={() => edit(null)}>
          Cancel
        </button>
      </span>
    );
  if (query.data === undefined) return <span role="status">Reading the {label}…</span>;
  return (
    <Field
      key={query.dataUpdatedAt}
      {...props}
      stored={query.data.value}
      etag={query.data.etag}
      reload={() => void query.refetch()}
    />
  );
}

interface FieldProps extends EditorProps {
  stored: Scenario;
  etag: string | null;
  reload: () => void;
}

/** Enter saves, Escape abandons, and Shift with Enter begins a line. */
function Field({ definition, edit, label, text, change, stored, etag, reload }: FieldProps) {
  const client = useQueryClient();
  const [initial] = useState(() => text(stored));
  const [written, write] = useState(initial);
  const path = { definition_id: definition.id, scenario_id: stored.id };
  const saving = useMutation({
    mutationFn: async (isOver: boolean) => {
      const base = isOver
        ? await readTagged(
            api.GET("/v1/definitions/{definition_id}/scenarios/{scenario_id}", { params: { path } }),
          )
        : { value: stored, etag };
      return readTagged(
        api.PATCH("/v1/definitions/{definition_id}/scenarios/{scenario_id}", {
          params: { path, header: ifMatch(base.etag) },
          // The API checks whatever was typed.
          body: change(base.value, written) as Schemas["UpdateScenario"],
        }),
      );
    },
    onSuccess: async ({ value }) => {
      await storeScenario(client, definition.version, value);
      edit(null);
    },
  });
  const save = () => {
    if (saving.isPending) return;
    if (written === initial) edit(null);
    else saving.mutate(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      save();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      edit(null);
    }
  };
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const area = field.current;
    area?.focus({ preventScroll: true });
    area?.setSelectionRange(area.value.length, area.value.length);
    area?.scrollIntoView({ block: "nearest" });
  }, []);
  const problem = saving.error && problemOf(saving.error);
  return (
    <form className={styles.editor} onSubmit={submit}>
      <UnsavedGuard isUnsaved={written !== initial && !saving.isPending} />
      <textarea
        ref={field}
        rows={2}
        aria-label={`${label.charAt(0).toUpperCase()}${label.slice(1)}`}
        aria-invalid={saving.isError}
        title="Enter saves, Escape abandons, Shift+Enter begins a line"
        value={written}
        onKeyDown={press}
        onChange={(event) => write(event.target.value)}
      />
      <span className={styles.buttons}>
        <button type="submit" data-kind="primary" disabled={saving.isPending}>
          {saving.isPending ? "Saving…" : "Save"}
        </button>
        <button type="button" onClick={() => edit(null)}>
          Cancel
        </button>
      </span>
      {problem && (
        <span role="alert" className={styles.refused}>
          {visible(problem)}
        </span>
      )}
      <Conflict error={saving.error} overwrite={() => saving.mutate(true)} reload={reload} />
    </form>
  );
}

function problemOf(error: Error): string {
  const fields = error instanceof ApiError ? error.fields : [];
  return fields.length === 0 ? error.message : fields.map((each) => each.message).join("; ");
}
