import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useCallback, useState } from "react";
import { ApiError } from "../../api/client";
import { profileCheckQuery } from "../../api/profiles";
import type { Profile, ProfileBody } from "../../api/types";
import { parseText } from "../../lib/json_text";
import { Conflict } from "../../ui/conflict";
import { Field } from "../../ui/field";
import type { Issue } from "../../ui/json_field";
import page from "../../ui/page.module.css";
import { useSettled } from "../../ui/settled";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { UnsavedGuard } from "../../ui/unsaved";
import { useReports } from "../definitions/form/context";
import styles from "../definitions/form/form.module.css";
import { Operations } from "./operations";
import { Plan } from "./plan";

export interface ProfileValues {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly mode: Profile["executionMode"];
  readonly operations: string;
}

interface Props {
  initial: ProfileValues;
  action: string;
  save: (body: ProfileBody, isOver: boolean) => Promise<unknown>;
  /** It reads the stored profile, and discards typed text. */
  reload?: () => void;
  others?: (isChanged: boolean) => ReactNode;
}

/** Edits a profile, and shows the API's check a moment after the last change. */
export function ProfileForm({ initial, action, save, reload, others }: Props) {
  const client = useQueryClient();
  const [values, change] = useState(initial);
  const set = (changes: Partial<ProfileValues>) => change({ ...values, ...changes });
  const setOperations = useCallback(
    (next: (text: string) => string) => change((now) => ({ ...now, operations: next(now.operations) })),
    [],
  );
  const [invalid, report] = useReports();
  const body = bodyOf(values);
  const settled = JSON.parse(useSettled(JSON.stringify(body))) as ProfileBody | null;
  const check = useQuery({
    ...profileCheckQuery(settled ?? { name: "", operations: [] }),
    enabled: settled !== null,
  });
  const saving = useMutation({
    mutationFn: ({ written, isOver }: { written: ProfileBody; isOver: boolean }) => save(written, isOver),
    onSuccess: () => client.invalidateQueries({ queryKey: ["profiles"] }),
  });
  const issues = check.isError ? issuesOf(check.error) : reported(check.data);
  const nameIssue = [...issues, ...issuesOf(saving.error)].find((each) => each.field === "name");
  const isChanged = JSON.stringify(values) !== JSON.stringify(initial);
  const send = (isOver: boolean) => {
    if (body !== null) saving.mutate({ written: body, isOver });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged && invalid.size === 0) send(false);
  };
  return (
    <>
      <UnsavedGuard isUnsaved={isChanged && !saving.isPending} />
      <form className={`${page.form} ${styles.form}`} onSubmit={submit}>
        <TextField
          label="Name"
          id="name"
          maxLength={100}
          value={values.name}
          error={nameIssue?.message}
          onChange={(name) => set({ name })}
        />
        <TextField
          label="Description (optional)"
          id="description"
          rows={2}
          maxLength={2_000}
          value={values.description}
          onChange={(description) => set({ description })}
        />
        <label className={page.check}>
          <input
            type="checkbox"
            checked={values.enabled}
            onChange={(event) => set({ enabled: event.target.checked })}
          />
          In use: turns with this profile run its operations
        </label>
        <Field label="Operations run" id="mode">
          <select
            id="mode"
            value={values.mode}
            onChange={(event) => set({ mode: event.target.value as ProfileValues["mode"] })}
          >
            <option value="concurrent">up to 8 together</option>
            <option value="sequential">one at a time</option>
          </select>
        </Field>
        <Operations
          text={values.operations}
          change={setOperations}
          issues={issues.filter((each) => each.field !== "name")}
          report={report}
          isIncomplete={invalid.size > 0}
        />
        <div className={page.bar}>
          <button
            type="submit"
            data-kind="primary"
            disabled={body === null || invalid.size > 0 || !isChanged || saving.isPending}
          >
            {saving.isPending ? "Saving…" : action}
          </button>
          {others?.(isChanged)}
        </div>
        {saving.isError && <Failure error={saving.error} what="The profile was not saved" />}
        {reload && <Conflict error={saving.error} overwrite={() => send(true)} reload={reload} />}
        {check.isError && issues.length === 0 && <Failure error={check.error} what="The check" />}
      </form>
      {check.data?.plan && (
        <div className={page.apart}>
          <Plan plans={check.data.plan} />
        </div>
      )}
    </>
  );
}

/** Returns the request; null while something is missing or the operations are no list. */
function bodyOf(values: ProfileValues): ProfileBody | null {
  const parsed = parseText(values.operations);
  if ("error" in parsed || !Array.isArray(parsed.value) || values.name.trim() === "") return null;
  return {
    name: values.name.trim(),
    description: values.description.trim() || null,
    enabled: values.enabled,
    executionMode: values.mode,
    // The API checks whatever was typed.
    operations: parsed.value as ProfileBody["operations"],
  };
}

function issuesOf(error: Error | null): readonly Issue[] {
  return error instanceof ApiError ? error.fields : [];
}

interface Reported {
  readonly errors: readonly Issue[];
  readonly warnings: readonly Issue[];
}

function reported(check: Reported | undefined): Issue[] {
  if (check === undefined) return [];
  return [...check.errors, ...check.warnings.map((each) => ({ ...each, isWarning: true }))];
}
