import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, ifMatch, read } from "../../api/client";
import { experimentQuery, experimentSummaryQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import type { Experiment, Schemas } from "../../api/types";
import { visible } from "../../lib/format";
import { numbered } from "../../lib/trend";
import { Field } from "../../ui/field";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { Pairs } from "./pairs";
import { Differences, Runs } from "./tables";
import { Trend } from "./trend";

const route = getRouteApi("/experiments/$id");
const CONCLUSIONS = ["SUPPORTED", "REJECTED", "INCONCLUSIVE"] as const;
type Conclusion = (typeof CONCLUSIONS)[number];

export function ExperimentPage() {
  const { id } = route.useParams();
  const query = useQuery(experimentQuery(id));
  const canWrite = useCanWrite();
  if (query.isPending) return <Loading what="the experiment" />;
  if (query.data === undefined)
    return (
      <Failure error={query.error} what={`Experiment ${visible(id)}`} retry={() => void query.refetch()} />
    );
  const { value: experiment, etag } = query.data;
  return (
    <>
      <title>{`${visible(experiment.name)} · Cupel`}</title>
      <p>
        <Link to="/experiments">All experiments</Link>
      </p>
      <h1>{visible(experiment.name)}</h1>
      <p className={page.facts}>
        <span>{experiment.status.toLowerCase()}</span>
        <span>{experiment.conclusion?.toLowerCase() ?? "not concluded"}</span>
        <span>significance level {experiment.alpha}</span>
        <Link to="/runs" search={{ experiment: id }}>
          Runs of this experiment
        </Link>
        {experiment.independentVariable && <span>varies {visible(experiment.independentVariable)}</span>}
      </p>
      <Section title="Hypothesis">
        <p className={page.prose}>{visible(experiment.hypothesis)}</p>
        {experiment.nullHypothesis && (
          <p className={page.note}>Otherwise: {visible(experiment.nullHypothesis)}</p>
        )}
        {experiment.description && <p className={page.prose}>{visible(experiment.description)}</p>}
      </Section>
      <Summary experiment={experiment} />
      {canWrite && <Conclude key={etag} experiment={experiment} etag={etag} />}
      {!canWrite && experiment.note && (
        <Section title="Conclusion">
          <p className={page.prose}>{visible(experiment.note)}</p>
        </Section>
      )}
    </>
  );
}

function Summary({ experiment }: { experiment: Experiment }) {
  const query = useQuery(experimentSummaryQuery(experiment.id));
  if (query.isPending) return <Loading what="its runs" />;
  if (query.data === undefined)
    return <Failure error={query.error} what="Runs of the experiment" retry={() => void query.refetch()} />;
  const summary = query.data;
  const runs = numbered(summary.runs, experiment.baselineRunId);
  return (
    <>
      <Differences summary={summary} />
      <Trend runs={runs} />
      <Pairs experiment={experiment} runs={runs} summary={summary} />
      <Runs runs={runs} reasons={summary.reasons} />
    </>
  );
}

function Conclude({ experiment, etag }: { experiment: Experiment; etag: string | null }) {
  const client = useQueryClient();
  const [conclusion, setConclusion] = useState<Conclusion | "">(experiment.conclusion ?? "");
  const [note, setNote] = useState(experiment.note ?? "");
  const save = useMutation({
    mutationFn: (body: Schemas["UpdateExperiment"]) =>
      read(
        api.PATCH("/v1/experiments/{experiment_id}", {
          params: { path: { experiment_id: experiment.id }, header: ifMatch(etag) },
          body,
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ["experiments"] }),
  });
  const isChanged =
    (conclusion || null) !== experiment.conclusion || (note.trim() || null) !== experiment.note;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged) save.mutate({ conclusion: conclusion || null, note: note.trim() || null });
  };
  return (
    <Section title="Conclusion">
      <form className={page.form} onSubmit={submit}>
        <Field label="The hypothesis is" id="conclusion">
          <select
            id="conclusion"
            value={conclusion}
            onChange={(event) => setConclusion(event.target.value as Conclusion | "")}
          >
            <option value="">open</option>
            {CONCLUSIONS.map((each) => (
              <option key={each} value={each}>
                {each.toLowerCase()}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Why" id="note">
          <textarea
            id="note"
            rows={3}
            maxLength={5000}
            value={note}
            onChange={(event) => setNote(event.target.value)}
          />
        </Field>
        <button type="submit" data-kind="primary" disabled={!isChanged || save.isPending}>
          {save.isPending ? "Saving…" : "Save"}
        </button>
        {save.isError && <Failure error={save.error} what="The conclusion was not stored" />}
      </form>
    </Section>
  );
}
