import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { EstimateOptions } from "../../api/queries";
import type { Estimate } from "../../api/types";
import { counted, formatSeconds, formatUsd, visible } from "../../lib/format";
import { type Factors, factorsText } from "../../lib/run_options";
import { CostBar } from "../../ui/cost_bar";
import { useSettled } from "../../ui/settled";
import { Failure, Loading } from "../../ui/states";
import styles from "./new_run.module.css";

export interface Estimating {
  data: Estimate | undefined;
  error: Error | null;
  isStale: boolean;
  retry: () => void;
}

/** Estimates the cost of the run, a moment after the last change of its form. */
export function useEstimate<T>(plan: T | null, queryOf: (plan: T) => EstimateOptions): Estimating {
  const text = JSON.stringify(plan);
  const settled = useSettled(text);
  const body = JSON.parse(settled) as T | null;
  const query = useQuery({
    ...queryOf(body ?? ({} as T)),
    enabled: body !== null,
    placeholderData: keepPreviousData,
  });
  return {
    data: plan === null ? undefined : query.data,
    error: query.error,
    isStale: settled !== text || query.isFetching || query.isPlaceholderData,
    retry: () => void query.refetch(),
  };
}

interface CardProps {
  estimate: Estimating;
  budget: number | null;
  factors?: Factors;
}

export function EstimateCard({ estimate, budget, factors }: CardProps) {
  if (estimate.error) return <Failure error={estimate.error} what="The estimate" retry={estimate.retry} />;
  if (!estimate.data) return <Loading rows={3} what="the estimate" />;
  return (
    <div data-stale={estimate.isStale} className={styles.estimate}>
      <Figures estimate={estimate.data} budget={budget} factors={estimate.isStale ? undefined : factors} />
    </div>
  );
}

interface FiguresProps {
  estimate: Estimate;
  budget: number | null;
  factors: Factors | undefined;
}

function Figures({ estimate, budget, factors }: FiguresProps) {
  const { usd, seconds } = estimate;
  return (
    <>
      <p className={styles.count}>{counted(estimate.jobCount, "conversation")}</p>
      {factors && (
        <p className={styles.note}>
          {factorsText(estimate.jobCount, factors, estimate.expansion?.jobCount ?? 0)}
        </p>
      )}
      <dl>
        <dt>Cost</dt>
        <dd>
          <Cost usd={usd} />
        </dd>
        {budget !== null && (
          <>
            <dt>Budget</dt>
            <dd>{formatUsd(budget)}</dd>
          </>
        )}
      </dl>
      {(usd.high > 0 || budget !== null) && <CostBar cost={usd} budget={budget} />}
      <dl>
        <Roles estimate={estimate} />
        <dt>Time</dt>
        <dd>
          {formatSeconds(seconds.expected)}
          {seconds.high > seconds.low && (
            <small>
              {formatSeconds(seconds.low)} to {formatSeconds(seconds.high)}
            </small>
          )}
        </dd>
      </dl>
      {estimate.trial && <Trial trial={estimate.trial} />}
      <p className={styles.note}>{basis(estimate)}</p>
      {estimate.unpriced.length > 0 && (
        <p className={styles.note}>
          Without a price, and not included: {visible(estimate.unpriced.join(", "))}
        </p>
      )}
      {estimate.missingAccess.map(({ provider }) => (
        <p key={provider} className={styles.note}>
          To start it,{" "}
          <Link to="/providers/$name" params={{ name: provider }}>
            set up {visible(provider)}
          </Link>
          : it lacks an API key or an address.
        </p>
      ))}
    </>
  );
}

function Cost({ usd }: { usd: Estimate["usd"] }) {
  return (
    <>
      {formatUsd(usd.expected)}
      {usd.high > usd.low && (
        <small>
          {formatUsd(usd.low)} to {formatUsd(usd.high)}
        </small>
      )}
    </>
  );
}

const ROLES = {
  target: "Targets",
  judge: "Judges",
  persona: "Users",
  operation: "Operations",
  summary: "Summaries",
  report: "Report",
} as const;

/** Lists the cost by role, if there is any. */
function Roles({ estimate }: { estimate: Estimate }) {
  if (estimate.usd.expected === 0 || estimate.graders.length === 0) return null;
  const sums = new Map<keyof typeof ROLES, number>();
  const add = (role: keyof typeof ROLES, usd: number) => sums.set(role, (sums.get(role) ?? 0) + usd);
  for (const target of estimate.targets) add("target", target.usd?.expected ?? 0);
  for (const grader of estimate.graders) add(grader.role, grader.usd?.expected ?? 0);
  return [...sums].map(([role, usd]) => (
    <span key={role} className={styles.role}>
      <dt>{ROLES[role]}</dt>
      <dd>{formatUsd(usd)}</dd>
    </span>
  ));
}

/** Shows the cost of the trial of the report's revised prompt. */
function Trial({ trial }: { trial: NonNullable<Estimate["trial"]> }) {
  const { usd } = trial;
  return (
    <>
      <dl>
        <dt>Trial</dt>
        <dd>
          <Cost usd={usd} />
        </dd>
      </dl>
      <p className={styles.note}>
        {trial.isWithinLimit
          ? `${counted(trial.jobCount, "further conversation")}, if the report offers a revised prompt; their cost is not part of the above, nor of the budget.`
          : "A trial would cost more than the scale run, so it is not expected to start."}
      </p>
    </>
  );
}

function basis(estimate: Estimate): string {
  if (estimate.basis !== "history") return "From the texts, and usual lengths of answers.";
  const samples = estimate.targets.reduce((sum, target) => sum + target.samples, 0);
  return `From ${counted(samples, "conversation")} of an earlier run like it.`;
}
