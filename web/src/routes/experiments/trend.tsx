import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { isTerminal, resultsQuery } from "../../api/queries";
import type { ColumnResults } from "../../api/types";
import { useReadAgain } from "../../api/watching";
import { TrendPlot } from "../../charts/trend";
import { formatLevel, METRICS } from "../../lib/comparison";
import { decisionAxis } from "../../lib/estimates";
import { counted, formatCount, formatInterval, visible } from "../../lib/format";
import {
  countDrawn,
  type Estimate,
  MEASURES,
  type Measure,
  MOST_RUNS,
  MOST_TARGETS,
  type NumberedRun,
  newestOf,
  type Results,
  shownText,
  type TrendPoint,
  type TrendSeries,
  trendOf,
} from "../../lib/trend";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Loading } from "../../ui/states";

const TITLE = "Trend over the runs";

/** Shows the results of each target in the runs, in the order of their creation. */
export function Trend({ runs: all }: { runs: readonly NumberedRun[] }) {
  const runs = newestOf(all, MOST_RUNS);
  const { results, isPending } = useResults(runs);
  if (isPending)
    return (
      <Section title={TITLE}>
        <Loading what="the results of the runs" rows={3} />
      </Section>
    );
  const columns = [...results.values()].flatMap((each) => (typeof each === "string" ? [] : each));
  const drawn = MEASURES.map((measure) => ({
    measure,
    series: trendOf(runs, (run) => results.get(run.runId) ?? "", measure),
  })).filter(({ series }) => series.length > 0);
  const withFigures = Math.max(0, ...drawn.map(({ series }) => countDrawn(series)));
  return (
    <Section title={TITLE}>
      {withFigures < 2 && (
        <p className={page.note}>
          {withFigures === 0 ? "No run has results yet" : "Only one run has results"}: a trend needs two runs
          of this experiment that have ended with results.
        </p>
      )}
      {all.length > runs.length && <p className={page.note}>{shownText(runs, all, "drawn")}</p>}
      {drawn.map(({ measure, series }) => (
        <Chart key={measure} measure={measure} series={series} columns={columns} />
      ))}
    </Section>
  );
}

/** Returns the results of the runs that have ended, or why there are none. */
function useResults(runs: readonly NumberedRun[]) {
  const ended = runs.filter((run) => isTerminal(run.status));
  const queries = useQueries({
    queries: ended.map((run) => ({ ...resultsQuery(run.runId), refetchInterval: false as const })),
  });
  useReadAgain(
    ended.flatMap((run, index) =>
      queries[index]?.data?.isComplete === false ? [resultsQuery(run.runId).queryKey] : [],
    ),
  );
  const results = new Map<string, Results>(runs.map((run) => [run.runId, run.status.toLowerCase()]));
  ended.forEach((run, index) => {
    const query = queries[index];
    results.set(run.runId, query?.data?.columns ?? (query?.isError ? "not readable" : "loading"));
  });
  return { results, isPending: queries.length > 0 && queries.every((each) => each.isPending) };
}

interface ChartProps {
  measure: Measure;
  series: readonly TrendSeries[];
  columns: readonly ColumnResults[];
}

function Chart({ measure, series, columns }: ChartProps) {
  const shown = series.slice(0, MOST_TARGETS);
  const axis = decisionAxis(columns) ?? { min: 1, max: 5 };
  const noun = METRICS[measure];
  const hasBaseline = shown[0]?.points.some((each) => each.run.isBaseline && each.estimate !== null);
  return (
    <>
      {series.length > shown.length && (
        <p className={page.note}>
          {formatCount(shown.length)} of {counted(series.length, "target")} are drawn; the table has all.
        </p>
      )}
      <TrendPlot
        title={`${noun[0]?.toUpperCase()}${noun.slice(1)} by run, with 95% intervals${hasBaseline ? "; a diamond is the baseline" : ""}`}
        description={shown.map(sentenceOf(measure)).join(" ")}
        fileName={measure === "PASS_RATE" ? "pass-rates" : "decisions"}
        panels={shown.map(({ target, points }) => ({
          name: visible(target),
          marks: points.map((point) => ({
            number: point.run.number,
            value: point.estimate?.value ?? null,
            interval: point.estimate?.interval ?? null,
            missing: point.missing,
            text: `${visible(target)}, ${pointText(measure, point)}`,
            isBaseline: point.run.isBaseline,
            link: { to: "/runs/$id", params: { id: point.run.runId } },
          })),
        }))}
        range={measure === "PASS_RATE" ? [0, 1] : [axis.min, axis.max]}
        format={(value) => (measure === "PASS_RATE" ? `${Math.round(100 * value)}%` : String(value))}
        xAxis="run, by its number below"
        yAxis={noun}
        table={<TrendTable measure={measure} series={series} />}
      />
    </>
  );
}

const sentenceOf =
  (measure: Measure) =>
  ({ target, points }: TrendSeries): string =>
    `${visible(target)}: ${points.map((each) => pointText(measure, each)).join("; ")}.`;

function pointText(measure: Measure, { run, estimate, missing }: TrendPoint): string {
  const name = run.name === null ? "" : ` “${visible(run.name)}”`;
  const baseline = run.isBaseline ? ", the baseline" : "";
  return `run ${run.number}${name}${baseline}: ${estimate ? estimateText(measure, estimate) : missing}`;
}

function estimateText(measure: Measure, { value, interval, count }: Estimate): string {
  const bounds = formatInterval(interval, (each) => formatLevel(measure, each));
  return `${formatLevel(measure, value)}${bounds && ` (${bounds})`}, n = ${formatCount(count)}`;
}

function TrendTable({ measure, series }: { measure: Measure; series: readonly TrendSeries[] }) {
  const runs = series[0]?.points.map((each) => each.run) ?? [];
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Run</th>
          {series.map(({ target }) => (
            <th key={target} scope="col">
              {visible(target)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {runs.map((run, position) => (
          <tr key={run.runId}>
            <th scope="row" className={page.name}>
              {run.number}{" "}
              <Link to="/runs/$id" params={{ id: run.runId }}>
                {visible(run.name ?? run.definitionName)}
              </Link>
            </th>
            {series.map(({ target, points }) => {
              const point = points[position];
              return (
                <td key={target}>
                  {point?.estimate ? estimateText(measure, point.estimate) : point?.missing}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
