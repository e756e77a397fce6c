import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ifMatch, read, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/role";
import { type Settings, settingsQuery } from "../../api/system";
import { visible } from "../../lib/format";
import { changesOf, parseWhole } from "../../lib/forms";
import { ModelField } from "../../ui/model_field";
import { NumberField, wholeNumberError } from "../../ui/number_field";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { SystemTabs } from "./system_tabs";

const MAX_OPEN_RUNS = 1000;
const MAX_BATCH = 1000;

export function SettingsPage() {
  const query = useQuery(settingsQuery);
  return (
    <>
      <title>Settings · Cupel</title>
      <h1>Settings</h1>
      <SystemTabs />
      {query.isPending && <Loading what="settings" />}
      {query.isError && <Failure error={query.error} what="Settings" retry={() => void query.refetch()} />}
      {query.data && <Form key={query.data.etag} settings={query.data.value} etag={query.data.etag} />}
    </>
  );
}

function Form({ settings, etag }: { settings: Settings; etag: string | null }) {
  const isAdmin = useIsAdmin();
  const client = useQueryClient();
  const [judge, setJudge] = useState(settings.judgeModel ?? "");
  const [persona, setPersona] = useState(settings.personaModel ?? "");
  const [embedding, setEmbedding] = useState(settings.embeddingModel ?? "");
  const [perOwner, setPerOwner] = useState(String(settings.openRunsPerOwner));
  const [open, setOpen] = useState(String(settings.openRuns));
  const [batchCount, setBatchCount] = useState(String(settings.maxBatchCount ?? ""));
  const [batchConcurrency, setBatchConcurrency] = useState(String(settings.maxBatchConcurrency ?? ""));
  const save = useMutation({
    mutationFn: (body: Schemas["UpdateSettings"]) =>
      read(api.PUT("/v1/settings", { params: { header: ifMatch(etag) }, body })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["settings"] }),
  });
  const numbers = [parseWhole(perOwner, 1, MAX_OPEN_RUNS), parseWhole(open, 1, MAX_OPEN_RUNS)] as const;
  const limits = [parseWhole(batchCount, 1, MAX_BATCH), parseWhole(batchConcurrency, 1, MAX_BATCH)] as const;
  const isValid =
    numbers.every((each) => typeof each === "number") && limits.every((each) => each !== undefined);
  const changes = changesOf(settings, {
    judgeModel: judge.trim() || null,
    personaModel: persona.trim() || null,
    embeddingModel: embedding.trim() || null,
    ...(typeof numbers[0] === "number" && { openRunsPerOwner: numbers[0] }),
    ...(typeof numbers[1] === "number" && { openRuns: numbers[1] }),
    ...(limits[0] !== undefined && { maxBatchCount: limits[0] }),
    ...(limits[1] !== undefined && { maxBatchConcurrency: limits[1] }),
  });
  const isChanged = Object.keys(changes).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid && isChanged) save.mutate(changes as Schemas["UpdateSettings"]);
  };
  const bounds = wholeNumberError(1, MAX_OPEN_RUNS);
  return (
    <>
      <form className={page.form} onSubmit={submit}>
        {!isAdmin && <p className={page.note}>Changing settings needs the role admin.</p>}
        <ModelField
          label="Judge"
          id="judge"
          value={judge}
          change={setJudge}
          disabled={!isAdmin}
          note="Judges criteria and model-graded assertions, unless a run names another model"
        />
        <ModelField
          label="Simulated users"
          id="persona"
          value={persona}
          change={setPersona}
          disabled={!isAdmin}
          note="Plays personas; the judge if none is named"
        />
        <ModelField
          label="Embeddings"
          id="embedding"
          value={embedding}
          change={setEmbedding}
          disabled={!isAdmin}
          note="Compares texts by meaning, for assertions of type similar"
        />
        <NumberField
          label="Open runs of one token, user or schedule"
          id="per-owner"
          error={typeof numbers[0] === "number" ? null : bounds}
          disabled={!isAdmin}
          value={perOwner}
          change={setPerOwner}
        />
        <NumberField
          label="Open runs of the workspace"
          id="open"
          error={typeof numbers[1] === "number" ? null : bounds}
          note="Runs that have not ended; more are refused until one ends"
          disabled={!isAdmin}
          value={open}
          change={setOpen}
        />
        <NumberField
          label="Conversations of each target of a batch, at most"
          id="batch-count"
          error={limits[0] !== undefined ? null : bounds}
          note="Empty for no limit but 1,000"
          disabled={!isAdmin}
          value={batchCount}
          change={setBatchCount}
        />
        <NumberField
          label="Conversations of a batch at the same time, at most"
          id="batch-concurrency"
          error={limits[1] !== undefined ? null : bounds}
          note="Empty for no limit; with one, batches without a limit of their own are refused"
          disabled={!isAdmin}
          value={batchConcurrency}
          change={setBatchConcurrency}
        />
        {isAdmin && (
          <button type="submit" data-kind="primary" disabled={!isValid || !isChanged || save.isPending}>
            {save.isPending ? "Saving…" : "Save"}
          </button>
        )}
        {save.isError && <Failure error={save.error} what="The settings were not changed" />}
        {save.isSuccess && <p role="status">Saved.</p>}
      </form>
      <ExternalEvaluator settings={settings} />
    </>
  );
}

function ExternalEvaluator({ settings }: { settings: Settings }) {
  const { evaluator } = settings;
  return (
    <div className={page.apart}>
      <Section title="External evaluator">
        {evaluator === null ? (
          <p className={page.note}>
            None. <code>cupel settings --evaluator-url</code> sets one: it scores answers over HTTP.
          </p>
        ) : (
          <p>
            <code>{visible(evaluator.url)}</code>
            {evaluator.headerNames.length > 0 &&
              `, with the headers ${visible(evaluator.headerNames.join(", "))}`}
          </p>
        )}
      </Section>
    </div>
  );
}
