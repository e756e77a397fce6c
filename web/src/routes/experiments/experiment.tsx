import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { useExperimentUpdate } from "../../api/experiment_changes";
import { experimentQuery, experimentSummaryQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import type { Experiment } from "../../api/types";
import { visible } from "../../lib/format";
import { type NumberedRun, numbered } from "../../lib/trend";
import { Field } from "../../ui/field";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Empty, Failure, Loading } from "../../ui/states";
import { AddRuns } from "./add_runs";
import { ExperimentActions } from "./experiment_actions";
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
      <div className={page.head}>
        <div>
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
        </div>
        <div className={page.bar} data-actions>
          <ExperimentActions experiment={experiment} etag={etag} />
        </div>
      </div>
      <div className={page.sections}>
        <Section title="Hypothesis">
          <p className={page.prose}>{visible(experiment.hypothesis)}</p>
          {experiment.nullHypothesis && (
            <p className={page.note}>Otherwise: {visible(experiment.nullHypothesis)}</p>
          )}
          {experiment.description && <p className={page.prose}>{visible(experiment.description)}</p>}
        </Section>
        {canWrite && (
          <Conclude key={`${experiment.conclusion} ${experiment.note}`} experiment={experiment} etag={etag} />
        )}
        {!canWrite && experiment.note && (
          <Section title="Conclusion">
            <p className={page.prose}>{visible(experiment.note)}</p>
          </Section>
        )}
      </div>
      <Summary experiment={experiment} etag={etag} />
    </>
  );
}

function Summary({ experiment, etag }: { experiment: Experiment; etag: string | null }) {
  const canWrite = useCanWrite();
  const query = useQuery(experimentSummaryQuery(experiment.id));
  if (query.isPending) return <Loading what="its runs" />;
  if (query.data === undefined)
    return <Failure error={query.error} what="Runs of the experiment" retry={() => void query.refetch()} />;
  const summary = query.data;
  const runs = numbered(summary.runs, experiment.baselineRunId);
  const present = new Set(runs.map((run) => run.runId));
  const addRuns = canWrite ? (
    <AddRuns experimentId={experiment.id} present={present} isPrimary={runs.length < 2} />
  ) : null;
  if (runs.length === 0) return <NoRuns experiment={experiment} addRuns={addRuns} />;
  return (
    <>
      <Differences summary={summary} />
      {canWrite && <BaselineChoice experiment={experiment} etag={etag} runs={runs} />}
      <div className={page.sections}>
        <Trend runs={runs} />
        <Pairs experiment={experiment} runs={runs} summary={summary} />
      </div>
      <Runs
        runs={runs}
        reasons={summary.reasons}
        experiment={experiment}
        canWrite={canWrite}
        addRuns={addRuns}
      />
    </>
  );
}

/** Ends the emptiness of an experiment: runs that exist are added, or one is started in it. */
function NoRuns({ experiment, addRuns }: { experiment: Experiment; addRuns: ReactNode }) {
  return (
    <Empty title="No runs yet">
      <p>Runs of the same scenarios are compared with one of them, the baseline.</p>
      {addRuns ? (
        <div className={page.bar}>
          {addRuns}
          <Link to="/new" search={{ experiment: experiment.id }}>
            Start a run in this experiment
          </Link>
        </div>
      ) : (
        <p>Adding runs needs the role member or admin.</p>
      )}
    </Empty>
  );
}

interface BaselineProps {
  experiment: Experiment;
  etag: string | null;
  runs: readonly NumberedRun[];
}

/** Sets the run that the others are compared with. */
function BaselineChoice({ experiment, etag, runs }: BaselineProps) {
  const update = useExperimentUpdate(experiment.id, etag);
  const { baselineRunId } = experiment;
  const isOutside = baselineRunId !== null && !runs.some((run) => run.isBaseline);
  return (
    <div className={page.filters}>
      <label>
        Baseline
        <select
          value={baselineRunId ?? ""}
          disabled={update.isPending}
          onChange={(event) => update.mutate({ baselineRunId: event.target.value || null })}
        >
          <option value="">none</option>
          {isOutside && (
            <option value={baselineRunId}>{visible(baselineRunId)}, not of this experiment</option>
          )}
          {runs.map((run) => (
            <option key={run.runId} value={run.runId}>
              {run.number} {visible(run.name ?? run.definitionName)}
            </option>
          ))}
        </select>
      </label>
      {update.isError && <Failure error={update.error} what="The baseline was not set" />}
    </div>
  );
}

function Conclude({ experiment, etag }: { experiment: Experiment; etag: string | null }) {
  const [conclusion, setConclusion] = useState<Conclusion | "">(experiment.conclusion ?? "");
  const [note, setNote] = useState(experiment.note ?? "");
  const save = useExperimentUpdate(experiment.id, etag);
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
