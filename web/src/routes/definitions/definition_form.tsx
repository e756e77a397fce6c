import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useCallback, useMemo, useRef, useState } from "react";
import { ApiError } from "../../api/client";
import { changedAt, currentIssues, type Issue } from "../../lib/content_fields";
import { type Content, contentChanges, isContent } from "../../lib/definitions";
import { parseTags } from "../../lib/forms";
import { parseText } from "../../lib/json_text";
import { Conflict } from "../../ui/conflict";
import { JsonField } from "../../ui/json_field";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { UnsavedGuard } from "../../ui/unsaved";
import { FormContext, useFocusOfErrors, useReports } from "./form/context";
import styles from "./form/form.module.css";
import { Parts } from "./form/parts";
import { type Labels, Review } from "./form/review";
import { Preview } from "./preview";

export interface WrittenDefinition {
  readonly name: string;
  readonly folder: string | null;
  readonly tags: string[];
  readonly versionLabel: string | null;
  readonly content: Content;
}

interface Props {
  labels: Labels;
  content: Content;
  /** It is what a fork inherits, and null for a definition that is no fork. */
  inherited?: Content | null;
  action: string;
  /** If true, changes of a stored definition are shown before they are saved. */
  isStored?: boolean;
  /** With `isOver`, it also saves where the definition has changed meanwhile. */
  save: (written: WrittenDefinition, isOver: boolean) => Promise<unknown>;
  /** It discards the written content, and reads the stored one. */
  reload?: () => void;
}

interface Draft {
  readonly content: Content;
  readonly text: string | null;
}

/** Edits a definition by its parts or as JSON. */
export function DefinitionForm({
  labels: initialLabels,
  content: initial,
  inherited = null,
  action,
  isStored = false,
  save,
  reload,
}: Props) {
  const [labels, setLabels] = useState(initialLabels);
  const [draft, setDraft] = useState<Draft>({ content: initial, text: null });
  const [isReviewed, review] = useState(false);
  const content = useMemo(() => contentOf(draft), [draft]);
  const [invalid, report] = useReports();
  const written = writtenOf(labels, content);
  const isChanged =
    JSON.stringify(labels) !== JSON.stringify(initialLabels) ||
    content === null ||
    invalid.size > 0 ||
    Object.keys(contentChanges(initial, content)).length > 0;
  const saving = useMutation({
    mutationFn: ({ written, isOver }: { written: WrittenDefinition; isOver: boolean }) =>
      save(written, isOver),
  });
  const { error } = saving;
  const fields = error instanceof ApiError ? error.fields : NO_ISSUES;
  const refused = saving.variables?.written.content;
  const issues = useMemo(
    () =>
      refused === undefined || content === null
        ? NO_ISSUES
        : currentIssues(contentIssues(fields), refused, content),
    [fields, refused, content],
  );
  const form = useRef<HTMLFormElement>(null);
  useFocusOfErrors(form, error);
  const ofField = (name: string) => fields.find((each) => each.field.split(".")[0] === name)?.message;
  const set = (name: keyof Labels) => (value: string) => setLabels({ ...labels, [name]: value });
  const setContent = useCallback(
    (change: (content: Content) => Content) =>
      setDraft((now) => ({ content: change(now.content), text: null })),
    [],
  );
  const change = useCallback(
    (path: string, value: unknown) =>
      setContent((now) => (path === "" ? (value as Content) : changedAt(now, path, value))),
    [setContent],
  );
  const context = useMemo(() => ({ change, issues, report }), [change, issues, report]);
  const canSave = written !== null && isChanged && invalid.size === 0 && !saving.isPending;
  const send = (isOver: boolean) => {
    review(false);
    if (written !== null) saving.mutate({ written, isOver });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!canSave) return;
    if (isStored) review(true);
    else send(false);
  };
  return (
    <>
      <UnsavedGuard isUnsaved={isChanged && !saving.isPending} />
      <form ref={form} className={`${page.form} ${styles.form}`} onSubmit={submit}>
        <div className={page.fields}>
          <TextField
            label="Name"
            id="name"
            maxLength={200}
            value={labels.name}
            error={ofField("name")}
            onChange={set("name")}
          />
          <TextField
            label="Folder (optional)"
            id="folder"
            maxLength={200}
            note="Such as support/refunds"
            value={labels.folder}
            error={ofField("folder")}
            onChange={set("folder")}
          />
          <TextField
            label="Tags (optional)"
            id="tags"
            maxLength={5000}
            note="Separated by commas"
            value={labels.tags}
            error={ofField("tags")}
            onChange={set("tags")}
          />
          <TextField
            label="Version name (optional)"
            id="label"
            maxLength={100}
            value={labels.label}
            error={ofField("versionLabel")}
            onChange={set("label")}
          />
        </div>
        <ModeChoice draft={draft} isInvalid={invalid.size > 0} setDraft={setDraft} />
        {draft.text === null ? (
          <FormContext value={context}>
            <div className={page.sections}>
              <Parts content={draft.content} inherited={inherited} setContent={setContent} />
            </div>
          </FormContext>
        ) : (
          <JsonField
            label="Content, as JSON"
            id="definition-content"
            rows={24}
            path=""
            note="POST /v1/definitions in the API reference describes the fields"
            value={draft.text}
            issues={issues}
            onChange={(text) => setDraft((now) => ({ ...now, text }))}
          />
        )}
        <div className={page.submit}>
          <button type="submit" data-kind="primary" disabled={!canSave}>
            {saving.isPending ? "Saving…" : isStored ? "Review and save" : action}
          </button>
        </div>
        {labels.name.trim() === "" && <p className={page.note}>A name is missing.</p>}
        {error && <Failure error={error} what="The definition was not saved" />}
        {written && reload && <Conflict error={error} overwrite={() => send(true)} reload={reload} />}
      </form>
      {isReviewed && written !== null && (
        <Review
          before={{ labels: initialLabels, content: initial }}
          after={{ labels, content: written.content }}
          action={action}
          save={() => send(false)}
          close={() => review(false)}
        />
      )}
      {draft.text !== null && content && <Preview content={content} />}
    </>
  );
}

const NO_ISSUES: readonly Issue[] = [];

interface ModeProps {
  draft: Draft;
  /** It is true if a field of the form has a value that no content may have. */
  isInvalid: boolean;
  setDraft: (draft: Draft) => void;
}

/** Switches between form and JSON, which edit one content; neither is left while the other could not show its value. */
function ModeChoice({ draft, isInvalid, setDraft }: ModeProps) {
  const [isRefused, refuse] = useState(false);
  const isJson = draft.text !== null;
  const content = contentOf(draft);
  const isBlocked = isJson ? content === null : isInvalid;
  const choose = (wantsJson: boolean) => {
    refuse(isBlocked);
    if (isBlocked || content === null) return;
    setDraft({ content, text: wantsJson ? JSON.stringify(content, null, 2) : null });
  };
  return (
    <fieldset className={styles.mode}>
      <legend>Edit the content</legend>
      {[false, true].map((each) => (
        <label key={String(each)}>
          <input type="radio" name="mode" checked={each === isJson} onChange={() => choose(each)} />
          {each ? "as JSON" : "by its fields"}
        </label>
      ))}
      {isRefused && isBlocked && (
        <p role="alert" className={styles.error}>
          {isJson
            ? "The text is no JSON object. It stays as it is: correct it before you edit the content by its fields."
            : "A field is incomplete, or has JSON that does not parse: correct it before you edit the content as JSON."}
        </p>
      )}
    </fieldset>
  );
}

function contentIssues(issues: readonly Issue[]): Issue[] {
  return issues
    .filter(({ field }) => field === "content" || field.startsWith("content."))
    .map((each) => ({ ...each, field: each.field.slice("content.".length) }));
}

function contentOf({ content, text }: Draft): Content | null {
  if (text === null) return content;
  const parsed = parseText(text);
  return "error" in parsed || !isContent(parsed.value) ? null : parsed.value;
}

/** Returns the definition to save; null while the name is missing or the content is no JSON object. */
function writtenOf(labels: Labels, content: Content | null): WrittenDefinition | null {
  if (content === null || labels.name.trim() === "") return null;
  return {
    name: labels.name.trim(),
    folder: labels.folder.trim() || null,
    tags: parseTags(labels.tags),
    versionLabel: labels.label.trim() || null,
    content,
  };
}
