import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useContext } from "react";
import { isTerminal, progressQuery, resultsQuery, runQuery } from "../api/queries";
import type { ColumnResults, Progress, Results } from "../api/types";
import { downloadText } from "../charts/download";
import { alertsOf } from "../lib/alerts";
import { csvText } from "../lib/csv";
import { delayText } from "../lib/delays";
import { helpOf } from "../lib/error_help";
import { type Axis, boundsText, columnName, decisionAxis, etaText, isSimulated } from "../lib/estimates";
import {
  counted,
  formatCount,
  formatDecimal,
  formatMs,
  formatSeconds,
  formatUsd,
  UNKNOWN,
  visible,
} from "../lib/format";
import { accuracyText, isJudgeUncalibrated } from "../lib/judge_accuracy";
import { leftOutText } from "../lib/left_out_checks";
import { resultsTable } from "../lib/results_table";
import { type CostRole, costOf, roleCostName, rolesOf } from "../lib/role_costs";
import { causeOf, helpOfUnscored } from "../lib/unscored";
import { Distribution, ProgressBar } from "../ui/bars";
import { Estimated, Share } from "../ui/estimated";
import { FigureHeader } from "../ui/figure_header";
import { Empty, Failure, Loading } from "../ui/states";
import { Ago } from "../ui/time";
import { BudgetSection } from "./budget";
import { FollowedEvents } from "./followed_events";
import styles from "./overview.module.css";
import { FailureTags } from "./tags";

const route = getRouteApi("/runs/$id");
const MAX_ALERTS = 3;

export function Overview() {
  const { id } = route.useParams();
  const run = useQuery(runQuery(id));
  const progress = useQuery(progressQuery(id));
  const results = useQuery(resultsQuery(id));
  const isOver = progress.data !== undefined && isTerminal(progress.data.status);
  return (
    <>
      {progress.isError && (
        <Failure error={progress.error} what="Progress" retry={() => void progress.refetch()} />
      )}
      {progress.data && !isOver && <ProgressSection progress={progress.data} />}
      {run.data && !isOver && <BudgetSection run={run.data} />}
      {results.isPending && <Loading what="results" />}
      {results.isError && (
        <Failure error={results.error} what="Results" retry={() => void results.refetch()} />
      )}
      {results.data && <ResultsSection id={id} results={results.data} isOver={isOver} />}
      {run.data && <FailureTags run={run.data} />}
      {results.data && <ErrorsSection id={id} results={results.data} />}
      {results.data && <UnscoredSection id={id} results={results.data} />}
      {run.data && isOver && <BudgetSection run={run.data} />}
    </>
  );
}

function ProgressSection({ progress }: { progress: Progress }) {
  return (
    <section className={styles.section} aria-labelledby="progress">
      <h2 id="progress">Progress</h2>
      <div className={styles.progress}>
        {progress.targets.map((target) => {
          const eta = etaText(target, formatSeconds);
          const key = `${target.targetId} ${target.promptId}`;
          return (
            <div key={key} className={styles.target}>
              <span className={styles.targetName}>{visible(columnName(target))}</span>
              <ProgressBar
                total={target.total}
                completed={target.completed}
                errored={target.errored}
                running={target.running}
              />
              <span className={styles.counts}>
                {formatCount(target.completed)} of {formatCount(target.total)}
                {target.errored > 0 && `, ${formatCount(target.errored)} errored`}
                {target.running > 0 && `, ${formatCount(target.running)} running`}
                {eta && <span>, {eta}</span>}
              </span>
              {target.delays.map((delay) => (
                <span
                  key={`${delay.reason} ${delay.provider} ${delay.model}`}
                  role="status"
                  className={styles.delay}
                >
                  ‖ {visible(delayText(delay, (until) => new Date(until).toLocaleTimeString()))}
                </span>
              ))}
            </div>
          );
        })}
      </div>
      <Alerts />
      <p className={styles.note}>
        <Spent spend={progress.spend} /> The run goes on without this page.
      </p>
    </section>
  );
}

/** Shows the spending over time, against the estimate of the start. */
function Spent({ spend }: { spend: Progress["spend"] }) {
  const { costUsd, pricedUsd, estimatedUsd: estimated, asOf } = spend;
  const unpriced = costUsd === null && " for what has a price";
  return (
    <>
      {formatUsd(costUsd ?? pricedUsd)} spent{unpriced}
      {asOf && <> by {new Date(asOf).toLocaleTimeString()}</>}
      {estimated &&
        estimated.expected > 0 &&
        `, of an expected ${formatUsd(estimated.expected)} (${formatUsd(estimated.low)} to ${formatUsd(estimated.high)})`}
      .
    </>
  );
}

/** Shows events of the run inline and with their times, so that nothing covers anything. */
function Alerts() {
  const alerts = alertsOf(useContext(FollowedEvents), MAX_ALERTS);
  return (
    <div role="status">
      {alerts.map((alert) => (
        <p key={alert.seq} className={styles.alert}>
          <Ago time={alert.ts} />: {alert.text}
        </p>
      ))}
    </div>
  );
}

interface ResultsProps {
  id: string;
  results: Results;
  isOver: boolean;
}

function ResultsSection({ id, results, isOver }: ResultsProps) {
  if (results.recorded === 0) return isOver ? <NoResults id={id} /> : <NoResultsYet />;
  const leftOut = leftOutText(results.columns);
  return (
    <section className={styles.section} aria-labelledby="results">
      <h2 id="results">Results</h2>
      {!results.isComplete && (
        <p role="status" className={styles.note}>
          So far: {formatCount(results.counted)} of {counted(results.total, "conversation")} counted.
        </p>
      )}
      {results.sample.isDrawn && (
        <p className={styles.note}>
          A sample: {formatCount(results.sample.scenarios)} of {counted(results.sample.total, "scenario")},
          seed {results.sample.seed}. Intervals account for it.
        </p>
      )}
      {leftOut && (
        <p role="status" className={styles.note}>
          Caution: {visible(leftOut)}. Passed says nothing about these checks.
        </p>
      )}
      {isJudgeUncalibrated(results.columns) && (
        <p className={styles.note}>Uncalibrated judge: no labels of people say how often it is wrong.</p>
      )}
      <ResultTable id={id} columns={results.columns} />
      <p className={styles.below} data-screen-only>
        <button
          type="button"
          onClick={() => downloadText(csvText(resultsTable(results.columns)), `${id}.csv`, "text/csv")}
        >
          Download as CSV
        </button>
      </p>
    </section>
  );
}

function NoResultsYet() {
  return (
    <Empty title="No results yet">
      <p>Results appear here within seconds of the end of the first conversations.</p>
    </Empty>
  );
}

function NoResults({ id }: { id: string }) {
  return (
    <Empty title="No results">
      <p>
        The run ended before any of its conversations. Its{" "}
        <Link to="/runs/$id/settings" params={{ id }}>
          settings
        </Link>{" "}
        start it again.
      </p>
    </Empty>
  );
}

interface Cause {
  readonly column: Results["columns"][number];
  readonly name: string;
  readonly count: number;
  readonly example: string | null | undefined;
  readonly probeIndex: number | null;
  readonly help: string;
}

/** Shows causes by target, each with an example and a remedy. */
function CausesTable({ id, label, causes }: { id: string; label: string; causes: readonly Cause[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Target</th>
            <th scope="col">Cause</th>
            <FigureHeader>Conversations</FigureHeader>
            <th scope="col">Example</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {causes.map(({ column, name, count, example, probeIndex, help }) => (
            <tr key={`${column.targetId} ${column.promptId} ${name}`}>
              <td className={styles.rowName}>{visible(columnName(column))}</td>
              <td>
                <code>{visible(name)}</code>
              </td>
              <td className="figure">{formatCount(count)}</td>
              <td className={styles.example}>
                {example ? `${visible(example)}, ` : ""}
                {probeIndex !== null && (
                  <Link to="/runs/$id/transcripts" params={{ id }} search={{ t: probeIndex }}>
                    conversation {probeIndex}
                  </Link>
                )}
              </td>
              <td className={styles.example}>{help}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ErrorsSection({ id, results }: { id: string; results: Results }) {
  const causes = results.columns.flatMap((column) =>
    column.errors.map(({ code, count, example, probeIndex }) => ({
      column,
      name: code,
      count,
      example,
      probeIndex,
      help: helpOf(code),
    })),
  );
  if (causes.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby="errors">
      <h2 id="errors">Infrastructure errors</h2>
      <p className={styles.note}>These are not failures of a model: no result counts them.</p>
      {results.columns
        .flatMap((column) => boundsText(column) ?? [])
        .map((text) => (
          <p key={text} className={styles.note}>
            {visible(text)}
          </p>
        ))}
      <CausesTable id={id} label="Errors by target and cause" causes={causes} />
    </section>
  );
}

/** A rescore scores those conversations whose judge gave no verdict. */
function UnscoredSection({ id, results }: { id: string; results: Results }) {
  const causes = results.columns.flatMap((column) =>
    column.unscoredReasons.map((reason) => ({
      column,
      name: causeOf(reason),
      count: reason.count,
      example: reason.example,
      probeIndex: reason.probeIndex,
      help: helpOfUnscored(reason.code),
    })),
  );
  if (causes.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby="unscored">
      <h2 id="unscored">Not scored</h2>
      <p className={styles.note}>
        The answers are here, but a check could not be computed: they count neither as passed nor as failed.
      </p>
      <CausesTable id={id} label="Not scored, by target and cause" causes={causes} />
    </section>
  );
}

function ResultTable({ id, columns }: { id: string; columns: readonly ColumnResults[] }) {
  const axis = decisionAxis(columns);
  const roles = rolesOf(columns);
  const hasRates = columns.some((column) => column.estimate.passRate.trials > 0);
  const isLabelled = columns.some((column) => column.judgeAccuracy);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={styles.scroll} aria-label="Results by target" tabIndex={0}>
      <table className={styles.results}>
        <thead>
          <tr>
            <th scope="col">Target</th>
            <FigureHeader>Completed</FigureHeader>
            {hasRates && <th scope="col">Pass rate (95% interval)</th>}
            {isLabelled && <th scope="col">Corrected by labels</th>}
            {axis && (
              <th scope="col" className={styles.wraps}>
                Mean decision (95% interval), {axis.min} to {axis.max}
              </th>
            )}
            {axis && <th scope="col">Decisions</th>}
            <FigureHeader className={styles.wraps}>Time p50</FigureHeader>
            <FigureHeader className={styles.wraps}>Time p95</FigureHeader>
            <FigureHeader>Tokens</FigureHeader>
            {roles.map((role) => (
              <FigureHeader key={role}>{roles.length === 1 ? "Cost" : roleCostName(role)}</FigureHeader>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => (
            <ResultRow
              key={`${column.targetId} ${column.promptId}`}
              id={id}
              column={column}
              axis={axis}
              hasRates={hasRates}
              isLabelled={isLabelled}
              roles={roles}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  id: string;
  column: ColumnResults;
  axis: Axis | null;
  hasRates: boolean;
  isLabelled: boolean;
  roles: readonly CostRole[];
}

function ResultRow({ id, column, axis, hasRates, isLabelled, roles }: RowProps) {
  const { estimate, operations } = column;
  return (
    <tr>
      <th scope="row" className={styles.rowName}>
        <Link to="/runs/$id/transcripts" params={{ id }} search={{ model: column.targetId }}>
          {visible(columnName(column))}
        </Link>
        {isSimulated(column.modelId) && <small>simulated</small>}
      </th>
      <td className="figure">
        {formatCount(estimate.completed)} of {formatCount(column.probes)}
        {estimate.errored > 0 && (
          <small className={styles.errored}>{counted(estimate.errored, "error")}</small>
        )}
      </td>
      {hasRates && (
        <td>
          <Share
            value={estimate.passRate.share}
            interval={estimate.passRate.interval95}
            n={estimate.passRate.trials}
            what="Pass rate"
          />
        </td>
      )}
      {isLabelled && (
        <td>
          <CorrectedRate column={column} />
        </td>
      )}
      {axis && (
        <td>
          <Estimated
            value={estimate.decision.mean}
            interval={estimate.decision.interval95}
            axis={axis}
            format={formatDecimal}
            n={estimate.decision.answers}
            what="Mean decision"
          />
        </td>
      )}
      {axis && (
        <td>
          <Distribution
            shares={estimate.distribution.map((each) => ({ code: each.code, share: each.estimate.share }))}
          />
        </td>
      )}
      <td className="figure">{formatMs(operations.durationMs?.p50)}</td>
      <td className="figure">{formatMs(operations.durationMs?.p95)}</td>
      <td className="figure">{formatCount(column.tokens)}</td>
      {roles.map((role) => (
        <td key={role} className="figure">
          {formatUsd(costOf(column, role))}
        </td>
      ))}
    </tr>
  );
}

function CorrectedRate({ column }: { column: ColumnResults }) {
  const { correctedPassRate: corrected, judgeAccuracy } = column;
  if (!corrected || !judgeAccuracy) return <>{UNKNOWN}</>;
  return (
    <>
      <Share
        value={corrected.rate}
        interval={corrected.interval95}
        n={judgeAccuracy.labels}
        what="Corrected pass rate"
      />
      <small>{accuracyText(judgeAccuracy)}</small>
    </>
  );
}
