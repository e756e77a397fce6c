import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useRemoveRun } from "../../api/experiment_changes";
import type { Experiment, ExperimentSummary } from "../../api/types";
import { formatDifference, formatDifferences, formatLevel } from "../../lib/comparison";
import { differenceAxis } from "../../lib/experiments";
import { formatConfidence, formatCount, formatP, formatUsd, UNKNOWN, visible } from "../../lib/format";
import { refusalText } from "../../lib/pairs";
import { namedTarget } from "../../lib/targets";
import type { NumberedRun } from "../../lib/trend";
import { IntervalMark } from "../../ui/bars";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Failure } from "../../ui/states";
import { Status } from "../../ui/status";
import { TargetList } from "../../ui/target_list";
import { Ago } from "../../ui/time";

type Row = ExperimentSummary["rows"][number];

const VERDICTS: Record<Row["verdict"], string> = {
  NOT_COMPARABLE: "not comparable",
  HIGHER: "higher",
  LOWER: "lower",
  EQUIVALENT: "equivalent",
  INCONCLUSIVE: "inconclusive",
};
const METRICS: Record<Row["metric"], string> = {
  DECISION: "mean decision",
  PASS_RATE: "pass rate",
  PASS_RATE_ERRORS_FAIL: "pass rate with errors as failures",
  OTHER_RATE: "share of decisions “other”",
};

/** Shows how each run and target differs from the baseline, on one axis. */
export function Differences({ summary }: { summary: ExperimentSummary }) {
  const { rows } = summary;
  if (rows.length === 0) {
    return (
      <Section title="Differences from the baseline">
        <p className={page.note}>
          {summary.experiment.baselineRunId === null
            ? "No baseline is set, so no run is compared."
            : "They need a baseline and another run of the same scenarios that have ended."}
        </p>
      </Section>
    );
  }
  const axis = differenceAxis(rows);
  const names = new Map(summary.runs.map((run) => [run.runId, run.name ?? run.definitionName]));
  const confidence = formatConfidence(summary.experiment.alpha);
  return (
    <Section title="Differences from the baseline">
      <ScrollRegion label="Differences from the baseline">
        <table>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Target</th>
              <th scope="col">Measure</th>
              <FigureHeader>Baseline</FigureHeader>
              <FigureHeader>Run</FigureHeader>
              <th scope="col">Difference ({confidence} interval)</th>
              <FigureHeader>p, adjusted</FigureHeader>
              <th scope="col">Verdict</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.comparisonId} ${row.target} ${row.metric}`}>
                <th scope="row" className={page.name}>
                  <Link to="/runs/$id" params={{ id: row.runId }}>
                    {visible(names.get(row.runId) ?? row.runId)}
                  </Link>
                </th>
                <td className={page.name}>
                  <TargetList targets={[namedTarget(row.target)]} />
                </td>
                <td>
                  {METRICS[row.metric]}, n = {formatCount(row.scenarios)}
                </td>
                <td className="figure">{formatLevel(row.metric, row.baselineMean)}</td>
                <td className="figure">{formatLevel(row.metric, row.comparisonMean)}</td>
                <td>
                  <Difference row={row} axis={axis} />
                </td>
                <td className="figure">{formatP(row.adjustedP)}</td>
                <td>{VERDICTS[row.verdict]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {summary.rowCount > rows.length && (
        <p className={page.note}>
          {formatCount(rows.length)} of {formatCount(summary.rowCount)} rows are shown.
        </p>
      )}
      {summary.suggestedConclusion && (
        <p className={`${page.note} ${page.below}`}>
          By what was expected, the differences say: {summary.suggestedConclusion.toLowerCase()}. A person
          concludes.
        </p>
      )}
    </Section>
  );
}

function Difference({ row, axis }: { row: Row; axis: { min: number; max: number } }) {
  if (row.difference === null) return <span className={page.note}>{UNKNOWN}</span>;
  const bounds = row.interval ? formatDifferences(row.metric, row.interval) : "";
  return (
    <span className={page.estimate}>
      <IntervalMark
        value={row.difference}
        interval={row.interval}
        {...axis}
        hasZero
        label={`Difference ${formatDifference(row.metric, row.difference)}, interval ${bounds}`}
      />
      <span>
        <strong>{formatDifference(row.metric, row.difference)}</strong> {bounds && `(${bounds})`}
      </span>
    </span>
  );
}

interface RunsProps {
  runs: readonly NumberedRun[];
  reasons: ExperimentSummary["reasons"];
  experiment: Experiment;
  canWrite: boolean;
  addRuns: ReactNode;
}

export function Runs({ runs, reasons: given, experiment, canWrite, addRuns }: RunsProps) {
  const removal = useRemoveRun(experiment.id, experiment.baselineRunId);
  const reasons = new Map(given.map((each) => [each.runId, each.reason]));
  return (
    <Section title="Runs">
      {addRuns && (
        <div className={page.bar}>
          {addRuns}
          <Link to="/new" search={{ experiment: experiment.id }}>
            Start a run in this experiment
          </Link>
        </div>
      )}
      {removal.isError && <Failure error={removal.error} what="The run was not removed" />}
      {runs.length > 0 && (
        <ScrollRegion label="Runs">
          <table>
            <thead>
              <tr>
                <FigureHeader>Number</FigureHeader>
                <th scope="col">Run</th>
                <th scope="col">Status</th>
                <th scope="col">Started</th>
                <FigureHeader>Cost</FigureHeader>
                <th scope="col">Comparison</th>
                {canWrite && (
                  <th scope="col">
                    <span className="hidden-text">Change</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.runId}>
                  <td className="figure">{run.number}</td>
                  <th scope="row" className={page.name}>
                    <Link to="/runs/$id" params={{ id: run.runId }}>
                      {visible(run.name ?? run.definitionName)}
                    </Link>
                    {run.isBaseline && <small>the baseline</small>}
                  </th>
                  <td>
                    <Status status={run.status} />
                  </td>
                  <td>
                    <Ago time={run.createdAt} />
                  </td>
                  <td className="figure">{formatUsd(run.costUsd)}</td>
                  <td className={page.cell}>{visible(refusalText(reasons.get(run.runId) ?? ""))}</td>
                  {canWrite && (
                    <td>
                      <button
                        type="button"
                        disabled={removal.isPending}
                        onClick={() => removal.mutate(run.runId)}
                      >
                        Remove<span className="hidden-text"> run {run.number}</span>
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </Section>
  );
}
