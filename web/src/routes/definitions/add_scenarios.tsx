import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { api, read } from "../../api/client";
import type { Definition } from "../../api/types";

import { counted, visible } from "../../lib/format";
import { type ChosenFile, FileField, readFiles } from "../../ui/file_field";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { Failure } from "../../ui/states";
import type { DroppedFile } from "./drop_file";
import { Generate } from "./generate";
import { WriteScenario } from "./write_scenario";

const MAX_BYTES = 5_000_000;
const PREVIEW_CHARACTERS = 2_000;

interface Props {
  definition: Definition;
  dropped: DroppedFile | undefined;
}

export function AddScenarios({ definition, dropped }: Props) {
  const [isOpen, open] = useState(false);
  useEffect(() => {
    if (dropped !== undefined) open(true);
  }, [dropped]);
  return (
    <>
      <details className={page.fold}>
        <summary>Write a scenario</summary>
        <WriteScenario definition={definition} />
      </details>
      <details className={page.fold} open={isOpen} onToggle={(event) => open(event.currentTarget.open)}>
        <summary>Import scenarios from a file, or drop it on the table</summary>
        <ImportFile key={dropped?.id} definition={definition} dropped={dropped} />
      </details>
      {definition.content.template && (definition.content.dimensions?.length ?? 0) > 0 && (
        <details className={page.fold}>
          <summary>Generate scenarios from the template</summary>
          <Generate definition={definition} />
        </details>
      )}
    </>
  );
}

/** Imports a table or JSON Lines. The API checks it as a whole: one bad line refuses it, with its number. */
function ImportFile({ definition, dropped }: Props) {
  const client = useQueryClient();
  const [file, setFile] = useState<ChosenFile | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [replace, setReplace] = useState(false);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const add = useMutation({
    mutationFn: (chosen: ChosenFile) =>
      read(
        api.POST("/v1/definitions/{definition_id}/scenarios/import", {
          params: { path: { definition_id: definition.id }, header: { "Idempotency-Key": key } },
          body: { format: /\.csv$/i.test(chosen.name) ? "csv" : "jsonl", content: chosen.text, replace },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ["definition", definition.id] }),
    onSettled: () => setKey(crypto.randomUUID()),
  });
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (dropped === undefined) return;
    void readFiles([dropped.file], MAX_BYTES).then(([files, error]) => {
      setFile(files[0] ?? null);
      setProblem(error);
    });
  }, [dropped]);
  const isReady = dropped !== undefined && file !== null;
  // What was dropped is in sight: its beginning, and the button that imports it.
  useEffect(() => {
    if (isReady) button.current?.focus();
  }, [isReady]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (file) add.mutate(file);
  };
  return (
    <form className={page.form} onSubmit={submit}>
      <FileField
        label="CSV or JSON Lines"
        id="scenario-file"
        accept=".csv,.jsonl,.ndjson"
        maxBytes={MAX_BYTES}
        note="A column or field for each of prompt, name, dimensions by name, successCriteria and others; at most 5 MB"
        error={problem}
        choose={(files, error) => {
          setFile(files[0] ?? null);
          setProblem(error);
          add.reset();
        }}
      />
      {isReady && <p className={page.note}>Dropped: {visible(file.name)}</p>}
      {file && (
        <PlainText
          label="Beginning of the file"
          text={file.text.slice(0, PREVIEW_CHARACTERS) + (file.text.length > PREVIEW_CHARACTERS ? "…" : "")}
          isCode
        />
      )}
      <label className={page.check}>
        <input type="checkbox" checked={replace} onChange={(event) => setReplace(event.target.checked)} />
        Replace the {counted(definition.scenarioCount, "scenario")} of this definition
      </label>
      <button ref={button} type="submit" data-kind="primary" disabled={file === null || add.isPending}>
        {add.isPending ? "Importing…" : `Import into ${visible(definition.name)}`}
      </button>
      {add.isError && <Failure error={add.error} what="Nothing was imported" />}
      {add.data && <p role="status">Imported: {counted(add.data.ids.length, "scenario")}.</p>}
    </form>
  );
}
