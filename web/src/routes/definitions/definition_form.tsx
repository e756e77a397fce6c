import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "../../api/client";
import { type Content, changedFields, fieldName, isContent } from "../../lib/definitions";
import { parseTags } from "../../lib/forms";
import { parseText } from "../../lib/json_text";
import { Conflict } from "../../ui/conflict";
import { TextDiff } from "../../ui/diff";
import { JsonField } from "../../ui/json_field";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { UnsavedGuard } from "../../ui/unsaved";
import { Preview } from "./preview";

export interface DefinitionValues {
  readonly name: string;
  readonly folder: string;
  readonly tags: string;
  readonly label: string;
  readonly content: string;
}

export interface WrittenDefinition {
  readonly name: string;
  readonly folder: string | null;
  readonly tags: string[];
  readonly versionLabel: string | null;
  readonly content: Content;
}

interface Props {
  initial: DefinitionValues;
  /** What the button does, such as "Create". */
  action: string;
  /** With `isOver` also where the definition has changed meanwhile. */
  save: (written: WrittenDefinition, isOver: boolean) => Promise<unknown>;
  /** Discards what was written, for what is stored now. */
  reload?: () => void;
}

/** A definition as it is edited, with what the next version would change. */
export function DefinitionForm({ initial, action, save, reload }: Props) {
  const [values, change] = useState(initial);
  const set = (name: keyof DefinitionValues) => (value: string) => change({ ...values, [name]: value });
  const written = writtenOf(values);
  const content = contentOf(values.content);
  const isChanged = JSON.stringify(values) !== JSON.stringify(initial);
  const saving = useMutation({
    mutationFn: ({ isOver }: { isOver: boolean }) =>
      written === null ? Promise.resolve() : save(written, isOver),
  });
  const { error } = saving;
  const fields = error instanceof ApiError ? error.fields : [];
  const ofField = (name: string) => fields.find((each) => each.field.split(".")[0] === name)?.message;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (written !== null && isChanged) saving.mutate({ isOver: false });
  };
  return (
    <>
      <UnsavedGuard isUnsaved={isChanged && !saving.isPending} />
      <form className={page.form} onSubmit={submit}>
        <TextField
          label="Name"
          id="name"
          maxLength={200}
          value={values.name}
          error={ofField("name")}
          onChange={set("name")}
        />
        <TextField
          label="Folder (optional)"
          id="folder"
          maxLength={200}
          note="Such as support/refunds"
          value={values.folder}
          error={ofField("folder")}
          onChange={set("folder")}
        />
        <TextField
          label="Tags (optional)"
          id="tags"
          maxLength={5000}
          note="Separated by commas"
          value={values.tags}
          error={ofField("tags")}
          onChange={set("tags")}
        />
        <TextField
          label="Name of the version (optional)"
          id="label"
          maxLength={100}
          value={values.label}
          error={ofField("versionLabel")}
          onChange={set("label")}
        />
        <JsonField
          label="Content, as JSON"
          id="definition-content"
          rows={24}
          path="content"
          note="docs/concepts.md describes the fields"
          value={values.content}
          issues={fields.filter((each) => each.field.split(".")[0] === "content")}
          onChange={set("content")}
        />
        <button
          type="submit"
          data-kind="primary"
          disabled={written === null || !isChanged || saving.isPending}
        >
          {saving.isPending ? "Saving…" : action}
        </button>
        {error && <Failure error={error} what="The definition was not saved" />}
        {written && reload && (
          <Conflict error={error} overwrite={() => saving.mutate({ isOver: true })} reload={reload} />
        )}
      </form>
      {content && <Preview content={content} />}
      {written && <Difference before={initial.content} after={written.content} />}
    </>
  );
}

/** What the content changes, before it is saved. */
function Difference({ before, after }: { before: string; after: Content }) {
  const changes = changedFields(contentOf(before) ?? {}, after);
  if (changes.length === 0) return null;
  return (
    <div className={page.apart}>
      {changes.map((change) => (
        <Section key={change.field} title={`Changes of ${fieldName(change.field)}`}>
          <TextDiff
            label={`Changed text of ${fieldName(change.field)}`}
            before={change.before}
            after={change.after}
          />
        </Section>
      ))}
    </div>
  );
}

function contentOf(text: string): Content | null {
  const parsed = parseText(text);
  return "error" in parsed || !isContent(parsed.value) ? null : parsed.value;
}

/** What is saved; null while the name is missing or the content is no JSON object. */
function writtenOf(values: DefinitionValues): WrittenDefinition | null {
  const content = contentOf(values.content);
  if (content === null || values.name.trim() === "") return null;
  return {
    name: values.name.trim(),
    folder: values.folder.trim() || null,
    tags: parseTags(values.tags),
    versionLabel: values.label.trim() || null,
    content,
  };
}
