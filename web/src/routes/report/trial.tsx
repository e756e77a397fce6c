import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { createTrial, estimateTrial, trialQuery } from "../../api/reports";
import { useCanWrite } from "../../api/role";
import type { Run, Trial, TrialBody } from "../../api/types";
import { parseBudget } from "../../lib/budget";
import { counted, formatInterval, formatShare, formatUsd, visible } from "../../lib/format";
import { trialPlanText } from "../../lib/report";
import { Dialog, DialogActions } from "../../ui/dialog";
import { Field } from "../../ui/field";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { Operations } from "../compare/operations";
import { Ratios } from "../compare/ratios";

interface Props {
  run: Run;
  report: string;
}

/** Shows the trial of both prompts on the same scenarios. */
export function TrialSection({ run, report }: Props) {
  const query = useQuery(trialQuery(run.id, report));
  if (query.isPending) return <Loading rows={2} what="the trial" />;
  if (query.isError)
    return <Failure error={query.error} what="The trial" retry={() => void query.refetch()} />;
  const trial = query.data;
  return (
    <Section title="Trial of the revised prompt">
      {trial === null && (
        <p className={page.note}>
          It runs the original and the revised prompt on the same scenarios, both anew, and compares their
          pass rates. A report has one trial.
        </p>
      )}
      {trial?.status === "RUNNING" && (
        <p role="status">
          Both prompts are running on {counted(trial.scenarios, "scenario")}: <Arms trial={trial} />.
        </p>
      )}
      {trial?.status === "FAILED" && (
        <p className={page.warning}>No result: {visible(trial.failure ?? "")}.</p>
      )}
      {trial?.result && <Result trial={trial} result={trial.result} />}
      {(trial === null || trial.status === "FAILED") && (
        <Start run={run} report={report} isNew={trial === null} />
      )}
    </Section>
  );
}

function Arms({ trial }: { trial: Trial }) {
  return (
    <>
      <Link to="/runs/$id" params={{ id: trial.originalRunId }}>
        original prompt
      </Link>
      ,{" "}
      <Link to="/runs/$id" params={{ id: trial.revisedRunId }}>
        revised prompt
      </Link>
    </>
  );
}

function Start({ run, report, isNew }: Props & { isNew: boolean }) {
  const canWrite = useCanWrite();
  const client = useQueryClient();
  const [text, setText] = useState("");
  const budget = parseBudget(text);
  const body: TrialBody = { allowUnpriced: false, maxBudgetUsd: budget ?? null };
  const plan = useMutation({ mutationFn: () => estimateTrial(run.id, report, body) });
  const start = useMutation({
    mutationFn: (confirmed: TrialBody) => createTrial(run.id, report, confirmed),
    onSuccess: () => client.invalidateQueries({ queryKey: trialQuery(run.id, report).queryKey }),
  });
  if (!canWrite) return null;
  if (!isNew) {
    return (
      <>
        <button type="button" disabled={start.isPending} onClick={() => start.mutate(body)}>
          Compare its runs again
        </button>
        {start.isError && <Failure error={start.error} what="The trial" />}
      </>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (budget !== undefined) plan.mutate();
  };
  const confirm = (expected: number) => {
    plan.reset();
    start.mutate({ ...body, confirmedUsd: expected });
  };
  return (
    <form className={page.form} onSubmit={submit} data-screen-only>
      <Field
        label="Total budget for both prompts, in USD"
        id="trial-budget"
        error={budget === undefined ? "An amount such as 2 or 0.50" : null}
        note="Empty: no limit, and about as many conversations as the run had"
      >
        <input
          id="trial-budget"
          inputMode="decimal"
          size={10}
          value={text}
          aria-invalid={budget === undefined}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <button
        type="submit"
        data-kind="primary"
        disabled={budget === undefined || plan.isPending || start.isPending}
      >
        {start.isPending ? "Starting…" : "Try it…"}
      </button>
      {plan.isError && <Failure error={plan.error} what="The size of the trial" />}
      {start.isError && <Failure error={start.error} what="The trial was not started" />}
      {plan.data && (
        <Dialog title="Run both prompts?" close={() => plan.reset()}>
          <p>{trialPlanText(plan.data)}</p>
          <DialogActions>
            <button
              type="button"
              data-kind="primary"
              onClick={() => confirm(plan.data.estimate.usd.expected)}
            >
              Run them for about {formatUsd(plan.data.estimate.usd.expected)}
            </button>
            <button type="button" onClick={() => plan.reset()}>
              Not now
            </button>
          </DialogActions>
        </Dialog>
      )}
    </form>
  );
}

function Result({ trial, result }: { trial: Trial; result: NonNullable<Trial["result"]> }) {
  return (
    <>
      <p>
        <strong>{visible(result.sentence)}</strong>
      </p>
      <p className={page.note}>
        Pass rate {formatShare(result.originalRate)} with the original and {formatShare(result.revisedRate)}{" "}
        with the revised prompt
        {result.interval95 &&
          `, a difference of ${formatInterval(result.interval95, formatShare)} with 95% confidence`}
        , on {counted(trial.scenarios, "scenario")}, {counted(trial.repeats, "repeat")} each. Runs:{" "}
        <Arms trial={trial} />;{" "}
        <Link to="/compare" search={{ a: trial.originalRunId, b: trial.revisedRunId }}>
          compare them in detail
        </Link>
        .
      </p>
      {result.tags.length > 0 && (
        <ScrollRegion label="failure tags">
          <table>
            <thead>
              <tr>
                <th scope="col">Failure tag</th>
                <FigureHeader>Original</FigureHeader>
                <FigureHeader>Revised</FigureHeader>
              </tr>
            </thead>
            <tbody>
              {result.tags.map((each) => (
                <tr key={each.tag}>
                  <th scope="row">{visible(each.tag)}</th>
                  <td className="figure">{each.original}</td>
                  <td className="figure">{each.revised}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      <Ratios row={result} sides={["Original", "Revised"]} />
      <Operations operations={result.operations} sides={["Original", "Revised"]} />
      {result.notes.map((note) => (
        <p key={note} className={page.note}>
          {visible(note)}
        </p>
      ))}
    </>
  );
}
