import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import type { Definition } from "../../api/types";

import { counted, visible } from "../../lib/format";
import { type ChosenFile, FileField } from "../../ui/file_field";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { Failure } from "../../ui/states";
import { Generate } from "./generate";
import { WriteScenario } from "./write_scenario";

const MAX_BYTES = 5_000_000;
const PREVIEW_CHARACTERS = 2_000;

export function AddScenarios({ definition }: { definition: Definition }) {
  return (
    <>
      <details className={page.fold}>
        <summary>Write a scenario</summary>
        <WriteScenario definition={definition} />
      </details>
      <details className={page.fold}>
        <summary>Import scenarios from a file</summary>
        <ImportFile definition={definition} />
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
function ImportFile({ definition }: { definition: Definition }) {
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
      <button type="submit" data-kind="primary" disabled={file === null || add.isPending}>
        {add.isPending ? "Importing…" : `Import into ${visible(definition.name)}`}
      </button>
      {add.isError && <Failure error={add.error} what="Nothing was imported" />}
      {add.data && <p role="status">Imported: {counted(add.data.ids.length, "scenario")}.</p>}
    </form>
  );
}
