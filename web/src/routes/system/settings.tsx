import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, ifMatch, read, readTagged } from "../../api/client";
import { UpdateSettings } from "../../api/limits";
import { useIsAdmin } from "../../api/role";
import { settingsQuery } from "../../api/system";
import type { Schemas, Settings } from "../../api/types";
import { changesOf, type HeadersChange, headersInput, issuesOf, parseWhole } from "../../lib/forms";
import { EditForm } from "../../ui/edit_form";
import { HeadersField } from "../../ui/headers_field";
import { KeysSwitch } from "../../ui/keys_switch";
import { ModelField } from "../../ui/model_field";
import { NumberField, wholeNumberError } from "../../ui/number_field";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { SystemTabs } from "./system_tabs";

export function SettingsPage() {
  const query = useQuery(settingsQuery);
  return (
    <>
      <title>Settings · Cupel</title>
      <h1>Settings</h1>
      <SystemTabs />
      {query.isPending && <Loading what="settings" />}
      {query.isError && <Failure error={query.error} what="Settings" retry={() => void query.refetch()} />}
      {query.data && (
        <Form
          key={query.data.etag}
          settings={query.data.value}
          etag={query.data.etag}
          reload={() => void query.refetch()}
        />
      )}
      <div className={page.apart}>
        <Section title="Keyboard">
          <KeysSwitch />
        </Section>
      </div>
    </>
  );
}

interface FormProps {
  settings: Settings;
  etag: string | null;
  reload: () => void;
}

function Form({ settings, etag, reload }: FormProps) {
  const isAdmin = useIsAdmin();
  const client = useQueryClient();
  const [judge, setJudge] = useState(settings.judgeModel ?? "");
  const [persona, setPersona] = useState(settings.personaModel ?? "");
  const [embedding, setEmbedding] = useState(settings.embeddingModel ?? "");
  const [analysis, setAnalysis] = useState(settings.analysisModel ?? "");
  const [summarizer, setSummarizer] = useState(settings.summarizerModel ?? "");
  const [url, setUrl] = useState(settings.evaluator?.url ?? "");
  const [headersChange, setHeaders] = useState<HeadersChange>({ kind: "keep" });
  const [perOwner, setPerOwner] = useState(String(settings.openRunsPerOwner));
  const [open, setOpen] = useState(String(settings.openRuns));
  const [scaleRunCount, setScaleRunCount] = useState(String(settings.maxScaleRunCount ?? ""));
  const [scaleRunConcurrency, setScaleRunConcurrency] = useState(
    String(settings.maxScaleRunConcurrency ?? ""),
  );
  const save = useMutation({
    mutationFn: async ({ isOver }: { isOver: boolean }) => {
      const latest = async () => (await readTagged(api.GET("/v1/settings"))).etag;
      await read(
        api.PUT("/v1/settings", {
          params: { header: ifMatch(isOver ? await latest() : etag) },
          body: changes as Schemas["UpdateSettings"],
        }),
      );
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["settings"] }),
    gcTime: 0,
  });
  const numbers = [
    parseWhole(perOwner, UpdateSettings.openRunsPerOwner),
    parseWhole(open, UpdateSettings.openRuns),
  ] as const;
  const limits = [
    parseWhole(scaleRunCount, UpdateSettings.maxScaleRunCount),
    parseWhole(scaleRunConcurrency, UpdateSettings.maxScaleRunConcurrency),
  ] as const;
  const evaluator = evaluatorChange(settings, url.trim(), headersChange);
  const isValid =
    numbers.every((each) => typeof each === "number") &&
    limits.every((each) => each !== undefined) &&
    evaluator !== undefined;
  const changes = {
    ...changesOf(settings, {
      judgeModel: judge.trim() || null,
      personaModel: persona.trim() || null,
      embeddingModel: embedding.trim() || null,
      analysisModel: analysis.trim() || null,
      summarizerModel: summarizer.trim() || null,
      ...(typeof numbers[0] === "number" && { openRunsPerOwner: numbers[0] }),
      ...(typeof numbers[1] === "number" && { openRuns: numbers[1] }),
      ...(limits[0] !== undefined && { maxScaleRunCount: limits[0] }),
      ...(limits[1] !== undefined && { maxScaleRunConcurrency: limits[1] }),
    }),
    ...evaluator,
  };
  const isChanged = Object.keys(changes).length > 0 || evaluator === undefined;
  const fields = save.error instanceof ApiError ? save.error.fields : [];
  const errorOf = (field: string) => issuesOf(fields, field)[0]?.message;
  return (
    <EditForm
      failure="The settings were not changed"
      isReadOnly={!isAdmin}
      isChanged={isChanged}
      isValid={isValid}
      saving={save}
      reload={reload}
    >
      {!isAdmin && <p className={page.note}>Changing settings needs the role admin.</p>}
      <div className={page.fields}>
        <ModelField
          label="Judge"
          id="judge"
          value={judge}
          change={setJudge}
          error={errorOf("judgeModel")}
          disabled={!isAdmin}
          note="Judges criteria and model-graded assertions, unless a run names another model"
        />
        <ModelField
          label="Simulated users"
          id="persona"
          value={persona}
          change={setPersona}
          error={errorOf("personaModel")}
          disabled={!isAdmin}
          note="Acts as the simulated user; the judge if empty"
        />
        <ModelField
          label="Embeddings"
          id="embedding"
          value={embedding}
          change={setEmbedding}
          error={errorOf("embeddingModel")}
          disabled={!isAdmin}
          note="Compares texts by meaning, for assertions of type similar"
        />
        <ModelField
          label="Analyses"
          id="analysis"
          value={analysis}
          change={setAnalysis}
          error={errorOf("analysisModel")}
          disabled={!isAdmin}
          note="Writes up the findings of deep analyses; fixed rules if empty"
        />
        <ModelField
          label="Summaries of reports"
          id="summarizer"
          value={summarizer}
          change={setSummarizer}
          error={errorOf("summarizerModel")}
          disabled={!isAdmin}
          note="Writes the summaries and revised prompts of reports; the judge of the run if none is named"
        />
        <TextField
          label="Address of an external evaluator"
          id="evaluator"
          maxLength={2048}
          note="Scores answers over HTTP; if it changes, the headers have to be entered again or removed"
          value={url}
          error={errorOf("evaluator.url")}
          disabled={!isAdmin}
          onChange={setUrl}
        />
        {url.trim() !== "" && (
          <HeadersField
            stored={settings.evaluator?.headerNames ?? []}
            change={headersChange}
            set={setHeaders}
            issues={issuesOf(fields, "evaluator.headers")}
            disabled={!isAdmin}
          />
        )}
        <NumberField
          label="Maximum open runs per token, user or schedule"
          id="per-owner"
          error={typeof numbers[0] === "number" ? null : wholeNumberError(UpdateSettings.openRunsPerOwner)}
          disabled={!isAdmin}
          value={perOwner}
          change={setPerOwner}
        />
        <NumberField
          label="Maximum open runs in the workspace"
          id="open"
          error={typeof numbers[1] === "number" ? null : wholeNumberError(UpdateSettings.openRuns)}
          note="Runs that have not ended; more are refused until one ends"
          disabled={!isAdmin}
          value={open}
          change={setOpen}
        />
        <NumberField
          label="Maximum conversations per target of a scale run"
          id="scale-run-count"
          error={limits[0] !== undefined ? null : wholeNumberError(UpdateSettings.maxScaleRunCount)}
          note="Empty for no limit but 1,000"
          disabled={!isAdmin}
          value={scaleRunCount}
          change={setScaleRunCount}
        />
        <NumberField
          label="Maximum concurrency of a scale run"
          id="scale-run-concurrency"
          error={limits[1] !== undefined ? null : wholeNumberError(UpdateSettings.maxScaleRunConcurrency)}
          note="Empty for no limit; with one, scale runs without a limit of their own are refused"
          disabled={!isAdmin}
          value={scaleRunConcurrency}
          change={setScaleRunConcurrency}
        />
      </div>
    </EditForm>
  );
}

/** Returns no field if it stays as it is; undefined while a header is wrong. */
function evaluatorChange(settings: Settings, url: string, change: HeadersChange) {
  const stored = settings.evaluator;
  if (url === "") return stored === null ? {} : { evaluator: null };
  const headers = headersInput(change);
  if (headers === undefined) return undefined;
  const isSame = url === stored?.url && change.kind === "keep";
  return isSame ? {} : { evaluator: { url, ...headers } };
}
