import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, read } from "../api/client";
import { isTerminal } from "../api/queries";
import { useCanWrite } from "../api/role";
import type { Run } from "../api/types";
import { BUDGET_ERROR, budgetShares, parseBudget } from "../lib/budget";
import { formatUsd } from "../lib/format";
import { Failure } from "../ui/states";
import styles from "./budget.module.css";

const ROLES = {
  target: "targets",
  judge: "judges",
  persona: "simulated users",
  operation: "operations",
  summary: "summaries",
  report: "reports",
} as const;

/** Shows the use of a run's budget, and the way to raise it; nothing for a run without one. */
export function BudgetSection({ run }: { run: Run }) {
  const { budget } = run.spend;
  const canWrite = useCanWrite();
  if (budget === null) return null;
  const isPaused = run.status === "PAUSED" && run.pauseReason === "budget";
  const isReached = isPaused && run.exhaustedBudget !== "day" && run.exhaustedBudget !== "month";
  const roles = roleSentence(budget.byRole);
  return (
    <section className={styles.section} aria-labelledby="budget">
      <h2 id="budget">Budget</h2>
      {isReached && (
        <p role="status" className={styles.reached}>
          ‖ The budget is used up, so the run is paused. Conversations continue after their last call when it
          is raised.
        </p>
      )}
      <BudgetBar budget={budget} />
      <dl className={styles.figures}>
        <BudgetFigure name="Spent" usd={budget.spentUsd} />
        {budget.uncertainUsd > 0 && (
          <BudgetFigure name="Uncertain" usd={budget.uncertainUsd} note="calls that may have been billed" />
        )}
        {budget.reservedUsd > 0 && (
          <BudgetFigure name="Reserved" usd={budget.reservedUsd} note="for calls in flight" />
        )}
        <BudgetFigure name="Budget" usd={budget.maxBudgetUsd} />
        {!isTerminal(run.status) && budget.projectedUsd !== null && (
          <BudgetFigure name="Projected total" usd={budget.projectedUsd} note="at the current mean" />
        )}
      </dl>
      {roles && <p className={styles.note}>{roles}</p>}
      {canWrite && !isTerminal(run.status) && <Change run={run} budget={budget} isReached={isReached} />}
    </section>
  );
}

/** Names the spending by role; nothing if there is one role. */
export function roleSentence(byRole: Budget["byRole"]): string | null {
  const roles = byRole.filter((each) => each.usd > 0);
  if (roles.length < 2) return null;
  return `Of it ${roles.map((each) => `${formatUsd(each.usd)} for ${ROLES[each.role]}`).join(", ")}.`;
}

type Budget = NonNullable<Run["spend"]["budget"]>;

export function BudgetBar({ budget }: { budget: Parameters<typeof budgetShares>[0] }) {
  const shares = budgetShares(budget);
  const label = `${formatUsd(budget.spentUsd)} of ${formatUsd(budget.maxBudgetUsd)} spent`;
  return (
    <svg className={styles.bar} role="img" aria-label={label} viewBox="0 0 1 1" preserveAspectRatio="none">
      <rect className={styles.left} width="1" height="1" />
      <rect className={styles.spent} width={shares.spent} height="1" />
      <rect className={styles.uncertain} x={shares.spent} width={shares.uncertain} height="1" />
      <rect
        className={styles.reserved}
        x={shares.spent + shares.uncertain}
        width={shares.reserved}
        height="1"
      />
    </svg>
  );
}

export function BudgetFigure({ name, usd, note }: { name: string; usd: number | null; note?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {formatUsd(usd)} {note && <small>{note}</small>}
      </dd>
    </div>
  );
}

function Change({ run, budget, isReached }: { run: Run; budget: Budget; isReached: boolean }) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const amount = parseBudget(text);
  const change = useMutation({
    mutationFn: (maxBudgetUsd: number) =>
      read(
        api.PATCH("/v1/runs/{run_id}/budget", {
          params: { path: { run_id: run.id } },
          body: { maxBudgetUsd, resume: true },
        }),
      ),
    onSuccess: () => setText(""),
    onSettled: () => client.invalidateQueries({ queryKey: ["run", run.id] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof amount === "number") change.mutate(amount);
  };
  const isLowered = typeof amount === "number" && amount <= budget.maxBudgetUsd;
  return (
    <form className={styles.change} onSubmit={submit}>
      <label htmlFor="new-budget">New budget in USD</label>
      <input
        id="new-budget"
        inputMode="decimal"
        size={10}
        aria-invalid={amount === undefined}
        aria-describedby={amount === undefined ? "new-budget-error" : undefined}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button
        type="submit"
        data-kind={isReached ? "primary" : undefined}
        disabled={typeof amount !== "number" || change.isPending}
      >
        {isReached && !isLowered ? "Raise and resume" : "Change"}
      </button>
      {amount === undefined && (
        <small id="new-budget-error" className={styles.error}>
          {BUDGET_ERROR}
        </small>
      )}
      {change.isError && <Failure error={change.error} what="The budget was not changed" />}
    </form>
  );
}
