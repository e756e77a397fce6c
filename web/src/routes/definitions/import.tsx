import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import type { ImportResult, Schemas } from "../../api/types";
import { counted, visible } from "../../lib/format";
import { Field } from "../../ui/field";
import { type ChosenFile, FileField } from "../../ui/file_field";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Failure, RoleTooLow } from "../../ui/states";
import styles from "./definitions.module.css";

const FORMATS = {
  promptfoo: ["promptfoo configuration", ".yaml,.yml,.json"],
  inspect: ["Inspect data set", ".json,.jsonl,.csv"],
  "openai-evals": ["OpenAI evals samples", ".jsonl"],
  csv: ["CSV table", ".csv"],
  jsonl: ["JSON Lines", ".jsonl,.ndjson"],
} as const;
type Format = keyof typeof FORMATS;
type Scorer = Schemas["DatasetScorer"];
const SCORERS = ["includes", "match", "exact"] as const satisfies readonly Scorer[];
const MAX_BYTES = 5_000_000;

export function ImportDefinitions() {
  const canWrite = useCanWrite();
  return (
    <>
      <title>Import · Cupel</title>
      <h1>Import an evaluation</h1>
      {canWrite ? <Form /> : <RoleTooLow detail="Importing needs the role member or admin." />}
    </>
  );
}

interface Input {
  format: Format;
  files: readonly ChosenFile[];
  others: readonly ChosenFile[];
  name: string;
  scorer: Scorer | "";
}

function send({ format, files, others, name, scorer }: Input, dryRun: boolean): Promise<ImportResult> {
  const [main] = files;
  const content = main?.text ?? "";
  if (format === "promptfoo") {
    const referenced = Object.fromEntries(others.map((each) => [each.name, each.text]));
    return read(api.POST("/v1/imports/promptfoo", { body: { config: content, files: referenced, dryRun } }));
  }
  return read(
    api.POST("/v1/imports/{format}", {
      params: { path: { format } },
      body: { name, content, dryRun, ...(scorer && { scorer }) },
    }),
  );
}

/** Shows the result of an import before it is carried out. */
function Form() {
  const [format, setFormat] = useState<Format>("promptfoo");
  const [files, setFiles] = useState<readonly ChosenFile[]>([]);
  const [others, setOthers] = useState<readonly ChosenFile[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [otherProblem, setOtherProblem] = useState<string | null>(null);
  const [name, setName] = useState("");
  const [scorer, setScorer] = useState<Scorer | "">("");
  const preview = useMutation({ mutationFn: (input: Input) => send(input, true) });
  const run = useMutation({ mutationFn: (input: Input) => send(input, false) });
  const isDataset = format !== "promptfoo";
  const input: Input = { format, files, others, name: name.trim() || (files[0]?.name ?? ""), scorer };
  const reset = () => {
    preview.reset();
    run.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (preview.data) run.mutate(input);
    else preview.mutate(input);
  };
  const isPending = preview.isPending || run.isPending;
  if (run.data) return <Imported result={run.data} />;
  return (
    <form className={page.form} onSubmit={submit} onChange={reset}>
      <p className={page.note}>
        Nothing in the file is executed and nothing is fetched; what would need that is left out and reported.
      </p>
      <Field label="Format" id="format">
        <select
          id="format"
          value={format}
          onChange={(event) => {
            setFormat(event.target.value as Format);
            setFiles([]);
          }}
        >
          {Object.entries(FORMATS).map(([value, [label]]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      <FileField
        key={format}
        label="File"
        id="file"
        accept={FORMATS[format][1]}
        maxBytes={MAX_BYTES}
        error={problem}
        note="At most 5 MB and 10,000 scenarios"
        choose={(chosen, error) => {
          reset();
          setFiles(chosen);
          setProblem(error);
        }}
      />
      {!isDataset && (
        <FileField
          label="Files that it refers to, beside it (optional)"
          id="others"
          accept=".yaml,.yml,.json,.jsonl,.csv,.txt,.md,.j2"
          maxBytes={MAX_BYTES}
          isMultiple
          error={otherProblem}
          note="For files in folders, the command cupel import takes the whole configuration"
          choose={(chosen, error) => {
            reset();
            setOthers(chosen);
            setOtherProblem(error);
          }}
        />
      )}
      {isDataset && (
        <>
          <Field label="Definition name" id="import-name" note="The name of the file, if you give none">
            <input
              id="import-name"
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </Field>
          <Field label="A response is right if, compared with the expected answer, it" id="scorer">
            <select
              id="scorer"
              value={scorer}
              onChange={(event) => setScorer(event.target.value as Scorer | "")}
            >
              <option value="">matches as the format usually has it</option>
              {SCORERS.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </Field>
        </>
      )}
      {preview.data && <Report result={preview.data} />}
      <button type="submit" data-kind="primary" disabled={files.length === 0 || isPending}>
        {isPending ? "Reading…" : preview.data ? "Import" : "Preview"}
      </button>
      {(preview.error ?? run.error) && (
        <Failure error={preview.error ?? run.error} what="Nothing was imported" />
      )}
    </form>
  );
}

function Report({ result }: { result: ImportResult }) {
  const { changed, skipped } = result.report;
  return (
    <section aria-label="Import preview" className={styles.imported}>
      <ul className={page.list}>
        {result.definitions.map((each) => (
          <li key={each.name}>
            {each.id === null ? (
              visible(each.name)
            ) : (
              <Link to="/definitions/$id" params={{ id: each.id }}>
                {visible(each.name)}
              </Link>
            )}
            , {counted(each.scenarioCount, "scenario")}
            {each.models.length > 0 && `, for ${visible(each.models.join(", "))}`}
          </li>
        ))}
      </ul>
      <Notes title="Converted to something similar" notes={changed} />
      <Notes title="Left out" notes={skipped} />
    </section>
  );
}

function Notes({ title, notes }: { title: string; notes: ImportResult["report"]["changed"] }) {
  if (notes.length === 0) return null;
  return (
    <details open={notes.length <= 10}>
      <summary>
        {title}: {notes.length}
      </summary>
      <ul className={page.list}>
        {notes.map((note, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: notes of a report never move
          <li key={index}>
            <code>{visible(note.where)}</code> {visible(note.what)}: {visible(note.why)}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Imported({ result }: { result: ImportResult }) {
  const [first] = result.definitions;
  return (
    <Section title="Imported">
      <Report result={result} />
      {first?.id && (
        <Link to="/new" search={{ definition: first.id }} className={page.action}>
          New run
        </Link>
      )}
    </Section>
  );
}
