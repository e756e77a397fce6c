import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { useModels } from "../../api/models";
import { createReport } from "../../api/reports";
import type { Run } from "../../api/types";
import { formatUsd, visible } from "../../lib/format";
import { summaryCostText, summaryUsd } from "../../lib/report";
import { Dialog, DialogActions } from "../../ui/dialog";
import { Failure, Loading } from "../../ui/states";
import styles from "./report.module.css";

const NO_SUMMARY = "";

/** Chooses who writes the summary, shows its cost, and asks before anything is spent. */
export function MakeReport({ run }: { run: Run }) {
  const models = useModels();
  const client = useQueryClient();
  const field = useId();
  const { summarizerModel, judgeModel } = run.config;
  const configured = summarizerModel ?? judgeModel;
  const [chosen, choose] = useState(configured ?? NO_SUMMARY);
  const [isAsking, ask] = useState(false);
  const make = useMutation({
    mutationFn: (allowUnpriced: boolean) =>
      createReport(run.id, chosen === NO_SUMMARY ? null : chosen, allowUnpriced),
    onSuccess: () => client.invalidateQueries({ queryKey: ["run", run.id, "reports"] }),
  });
  if (models.isError)
    return <Failure error={models.error} what="Models" retry={() => void models.refetch()} />;
  if (!models.data) return <Loading rows={2} what="models" />;

  const model = models.data.find((each) => each.id === chosen);
  const others = models.data.filter((each) => each.usable && each.id !== configured);
  const usd = chosen === NO_SUMMARY ? 0 : model ? summaryUsd(model) : null;
  const start = () => {
    ask(false);
    make.mutate(usd === null);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (usd === 0) start();
    else ask(true);
  };
  return (
    <form className={styles.make} onSubmit={submit}>
      <label htmlFor={field}>Summary and revised prompt by</label>
      <select id={field} value={chosen} onChange={(event) => choose(event.target.value)}>
        <option value={NO_SUMMARY}>no model: figures only</option>
        {configured && (
          <option value={configured}>
            {visible(configured)} (the {summarizerModel ? "summarizer" : "judge"} of this run)
          </option>
        )}
        {others.map((each) => (
          <option key={each.id} value={each.id}>
            {visible(each.id)}
          </option>
        ))}
      </select>
      <small>{chosen === NO_SUMMARY ? "No model is called: it costs nothing." : summaryCostText(usd)}</small>
      <button type="submit" data-kind="primary" disabled={make.isPending}>
        {make.isPending ? "Starting…" : usd === 0 ? "Create report" : "Create report…"}
      </button>
      {make.isError && <Failure error={make.error} what="The report was not started" />}
      {isAsking && (
        <Dialog title="Call a model for the summary?" close={() => ask(false)}>
          <p>
            <code>{visible(chosen)}</code> reads up to 24 conversations of this run. {summaryCostText(usd)}
          </p>
          <BudgetLine run={run} />
          <DialogActions>
            <button type="button" data-kind="primary" onClick={start}>
              {usd === null ? "Make it at an unknown price" : `Make it for up to about ${formatUsd(usd)}`}
            </button>
            <button type="button" onClick={() => ask(false)}>
              Not now
            </button>
          </DialogActions>
        </Dialog>
      )}
    </form>
  );
}

function BudgetLine({ run }: { run: Run }) {
  const budget = run.spend.budget;
  if (budget === null) return null;
  const left = Math.max(0, budget.maxBudgetUsd - budget.spentUsd - budget.uncertainUsd - budget.reservedUsd);
  return (
    <p>
      It is paid from the budget of the run, of which {formatUsd(left)} is left. Without enough, the report is
      made without a summary.
    </p>
  );
}
