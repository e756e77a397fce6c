import { useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef } from "react";
import { ApiError } from "../../api/client";
import { comparisonsOfRunQuery, createComparison, pairQuery } from "../../api/comparisons";
import { isTerminal } from "../../api/queries";
import { useCanWrite } from "../../api/role";
import type { Comparison, Experiment, ExperimentSummary } from "../../api/types";
import { useReadAgain } from "../../api/watching";
import { formatDifference, formatDifferences, METRICS, VERDICTS } from "../../lib/comparison";
import { counted, formatConfidence, formatCount, visible } from "../../lib/format";
import { formatOperating, formatOperatingDifference } from "../../lib/operating_figures";
import {
  commonMeasure,
  lacksMeasure,
  measuredBy,
  measuresOf,
  measureTitle,
  metricOf,
  operatingFigureOf,
  type PairMeasure,
} from "../../lib/pair_measures";
import {
  comparisonsOf,
  type DescribedFigures,
  figuresOf,
  keyOf,
  MOST_PAIRED,
  type Pair,
  pairsOf,
  refusalText,
  type TestedFigures,
  targetsOf,
} from "../../lib/pairs";
import type { ExperimentSearch } from "../../lib/search";
import { type NumberedRun, newestOf, shownText } from "../../lib/trend";
import { useKept } from "../../ui/kept";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { useSeen } from "../../ui/seen";
import { Failure, Loading } from "../../ui/states";
import styles from "./pairs.module.css";

const route = getRouteApi("/experiments/$id");
const REFUSED = [404, 409, 422];

interface Props {
  experiment: Experiment;
  runs: readonly NumberedRun[];
  summary: ExperimentSummary;
}

/** Compares each run with each other one. */
export function Pairs(props: Props) {
  const element = useRef<HTMLDivElement>(null);
  const isSeen = useSeen(element);
  const { runs: all } = props;
  const runs = newestOf(all, MOST_PAIRED);
  return (
    <div ref={element}>
      <Section title="All pairs of runs">
        {runs.length < 2 && (
          <p className={page.note}>
            {runs.length === 0 ? "There is no run yet" : "There is only one run"}: a pair needs two runs of
            this experiment that have ended, with scenarios in common.
          </p>
        )}
        {runs.length >= 2 && isSeen && <Matrix {...props} runs={runs} />}
        {all.length > runs.length && (
          <p className={`${page.note} ${page.below}`}>
            {shownText(runs, all, "compared here")} <Link to="/compare">Compare</Link> has any two.
          </p>
        )}
      </Section>
    </div>
  );
}

type Known = { comparison: Comparison; isNewest: boolean } | { why: string } | "not compared" | "loading";

function usePairs({ runs, summary }: Props, measure: PairMeasure | undefined) {
  const ended = runs.filter((run) => isTerminal(run.status));
  const lists = useQueries({ queries: ended.map((run) => comparisonsOfRunQuery(run.runId)) });
  const listed = lists.flatMap((each) => each.data?.items ?? []);
  const ofBaseline = new Map(summary.rows.map((each) => [each.runId, each.comparisonId]));
  const reasons = new Map(summary.reasons.map((each) => [each.runId, each]));
  const pairs = pairsOf(runs);
  // Only a comparison itself names its measure, so those of another measure may have to be read, too.
  const mostOfPair = measure && metricOf(measure) ? undefined : 1;
  const ids = pairs.map((pair) => {
    const found = comparisonsOf(pair, listed).map((each) => each.id);
    const only = ofBaseline.get(comparedWithBaseline(pair) ?? "");
    return found.length === 0 && only ? [only] : found.slice(0, mostOfPair);
  });
  const wanted = [...new Set(ids.flat())];
  const comparisons = useQueries({ queries: wanted.map(pairQuery) });
  const byId = new Map(wanted.map((id, index) => [id, comparisons[index]]));
  useReadAgain(
    comparisons.flatMap(({ data }) =>
      data && ["QUEUED", "RUNNING"].includes(data.status) ? [pairQuery(data.id).queryKey] : [],
    ),
  );
  const knownOf = (pair: Pair, of: readonly string[]): Known => {
    const going = [pair.older, pair.newer].find((run) => !isTerminal(run.status));
    if (going) return { why: `not comparable: run ${going.number} is ${going.status.toLowerCase()}` };
    const queries = of.flatMap((id) => byId.get(id) ?? []);
    const read = queries.flatMap(({ data }) => data ?? []);
    if (queries.some((each) => each.isPending)) return "loading";
    const comparison = measuredBy(read, measure);
    if (comparison) return { comparison, isNewest: comparison.id === of[0] };
    if (queries.length > 0) return { why: "its comparison could not be read" };
    if (lists.some((each) => each.isPending)) return "loading";
    const pending = reasons.get(comparedWithBaseline(pair) ?? "");
    return pending === undefined || pending.canBeRequested
      ? "not compared"
      : { why: `not comparable: ${refusalText(pending.reason)}` };
  };
  return {
    pairs,
    known: new Map(pairs.map((pair, index) => [keyOf(pair), knownOf(pair, ids[index] ?? [])])),
    isPending: lists.length > 0 && lists.every((each) => each.isPending),
    error: lists.find((each) => each.isError)?.error,
    retry: () => {
      for (const each of lists) if (each.isError) void each.refetch();
    },
  };
}

/** Returns the run that is compared with the baseline, if the pair includes the baseline. */
function comparedWithBaseline({ older, newer }: Pair): string | undefined {
  return older.isBaseline ? newer.runId : newer.isBaseline ? older.runId : undefined;
}

function Matrix(props: Props) {
  const { runs } = props;
  const { target, measure } = route.useSearch();
  const { pairs, known, isPending, error, retry } = usePairs(props, measure);
  // The API says why a pair is refused only when a comparison is requested.
  const [refused, setRefused] = useKept<Readonly<Record<string, string>>>("pairs", "refused", {});
  const of = (pair: Pair): Known => {
    const why = refused[keyOf(pair)];
    const found = known.get(keyOf(pair)) ?? "loading";
    return found === "not compared" && why !== undefined ? { why } : found;
  };
  if (isPending) return <Loading what="the comparisons of the runs" rows={3} />;
  const comparisons = pairs
    .map(of)
    .flatMap((each) => (typeof each === "object" && "comparison" in each ? [each.comparison] : []));
  const common = commonMeasure(comparisons);
  const lacks = (pair: Pair) => {
    const found = of(pair);
    if (found === "not compared") return true;
    const comparison = typeof found === "object" && "comparison" in found ? found.comparison : undefined;
    return refused[keyOf(pair)] === undefined && comparison && lacksMeasure(comparison, measure);
  };
  return (
    <>
      {error && <Failure error={error} what="Comparisons of the runs" retry={retry} />}
      <Basis comparisons={comparisons} />
      <div className={styles.bar}>
        <MeasureChoice comparisons={comparisons} />
        <TargetChoice targets={targetsOf(comparisons)} />
        <CompareAll
          experiment={props.experiment}
          measure={measure}
          pairs={pairs.filter(lacks)}
          refuse={(pair, why) =>
            setRefused((old) => ({ ...old, [keyOf(pair)]: `not comparable: ${refusalText(why)}` }))
          }
        />
      </div>
      <ScrollRegion label="All pairs of runs">
        <table className={styles.matrix}>
          <caption className="hidden-text">
            {visible(captionOf(measure ?? common, target, comparisons))}
          </caption>
          <thead>
            <tr>
              <th scope="col">Newer run</th>
              {runs.slice(0, -1).map((run) => (
                <th key={run.runId} scope="col" title={visible(run.name ?? run.definitionName)}>
                  minus {run.number}
                  {run.isBaseline && <small>the baseline</small>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {runs.slice(1).map((newer, row) => (
              <tr key={newer.runId}>
                <th scope="row" className={page.name}>
                  {newer.number}{" "}
                  <Link to="/runs/$id" params={{ id: newer.runId }}>
                    {visible(newer.name ?? newer.definitionName)}
                  </Link>
                  {newer.isBaseline && <small>the baseline</small>}
                </th>
                {runs.slice(0, -1).map((older, column) =>
                  column <= row ? (
                    <td key={older.runId}>
                      <Cell
                        pair={{ older, newer }}
                        known={of({ older, newer })}
                        target={target}
                        measure={measure}
                        isNamed={measure === undefined && common === undefined}
                      />
                    </td>
                  ) : (
                    <td key={older.runId} className={styles.none} />
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </>
  );
}

function Basis({ comparisons }: { comparisons: readonly Comparison[] }) {
  const { measure } = route.useSearch();
  const figures = comparisons.flatMap((each) => each.figures ?? []);
  const metric = measure && metricOf(measure);
  const described = measure && operatingFigureOf(measure);
  const tested = figures.filter((each) => measure === undefined || each.metric === metric);
  const metrics = [...new Set(tested.map((each) => METRICS[each.metric]))];
  const levels = [...new Set(tested.map((each) => formatConfidence(each.alpha)))];
  return (
    <p className={page.note}>
      The newer run minus the older one
      {tested.length > 0 && (
        <>
          , paired by scenario: the difference of the {metrics.join(" or the ")}, with its{" "}
          {levels.join(" or ")} interval
        </>
      )}
      .{" "}
      {measure && described && `${measureTitle(measure)}: from all conversations of both runs, not tested. `}
      Each cell leads to its comparison.
      {tested.length > 0 && (
        <> Among many pairs, a few differ by chance: intervals are not adjusted for how many there are.</>
      )}
    </p>
  );
}

/** Describes the choices above the table for screen readers. */
function captionOf(
  measure: PairMeasure | undefined,
  target: string | undefined,
  comparisons: readonly Comparison[],
): string {
  const of = measure ? measureTitle(measure) : "what each pair was compared by";
  return `${of}, newer run minus older one, ${target ?? targetsOf(comparisons)[0] ?? "all targets"}`;
}

/** Without a choice, each pair has its own measure: mostly the same, which is then shown as chosen. */
function MeasureChoice({ comparisons }: { comparisons: readonly Comparison[] }) {
  const { measure } = route.useSearch();
  const choose = useChoose();
  const offered = measuresOf(comparisons);
  if (offered.length === 0 && measure === undefined) return null;
  const common = commonMeasure(comparisons);
  return (
    <label>
      Measure{" "}
      <select
        value={measure ?? common ?? ""}
        onChange={(event) => {
          const chosen = event.target.value;
          choose({ measure: chosen === common ? undefined : offered.find((each) => each === chosen) });
        }}
      >
        {common === undefined && <option value="">as each pair was compared</option>}
        {measure !== undefined && !offered.includes(measure) && (
          <option value={measure}>{measureTitle(measure)}</option>
        )}
        {offered.map((each) => (
          <option key={each} value={each}>
            {measureTitle(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

function useChoose() {
  const navigate = route.useNavigate();
  return (changes: ExperimentSearch) =>
    void navigate({ search: (old) => ({ ...old, ...changes }), resetScroll: false });
}

function TargetChoice({ targets }: { targets: readonly string[] }) {
  const { target } = route.useSearch();
  const choose = useChoose();
  if (targets.length < 2 && target === undefined) return null;
  const [first] = targets;
  return (
    <label>
      Target{" "}
      <select
        value={target ?? first ?? ""}
        onChange={(event) => {
          const chosen = event.target.value;
          choose({ target: chosen === first ? undefined : chosen });
        }}
      >
        {target !== undefined && !targets.includes(target) && (
          <option value={target}>{visible(target)}</option>
        )}
        {targets.map((each) => (
          <option key={each} value={each}>
            {visible(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface CompareAllProps {
  experiment: Experiment;
  /** It is the measure of the comparison, if not the experiment's. */
  measure: PairMeasure | undefined;
  pairs: readonly Pair[];
  refuse: (pair: Pair, why: string) => void;
}

/** Requests the missing comparisons, as the experiment has them with its baseline. */
function CompareAll({ experiment, measure, pairs, refuse }: CompareAllProps) {
  const client = useQueryClient();
  const canWrite = useCanWrite();
  const compare = useMutation({
    mutationFn: async (wanted: readonly Pair[]) => {
      const { alpha, minimumEffect } = experiment;
      const chosen = measure && metricOf(measure);
      const metric = chosen ?? experiment.metric;
      const margin = metric === experiment.metric ? minimumEffect : null;
      for (const pair of wanted) {
        try {
          await createComparison(pair.older.runId, pair.newer.runId, { metric, margin, alpha });
        } catch (error) {
          if (!(error instanceof ApiError) || !REFUSED.includes(error.status)) throw error;
          refuse(pair, error.fields.map((each) => each.message).join("; ") || error.detail);
        }
      }
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["comparisons of"] }),
  });
  if (compare.isError)
    return (
      <Failure error={compare.error} what="Not all pairs were compared" retry={() => compare.mutate(pairs)} />
    );
  if (!canWrite || (pairs.length === 0 && !compare.isPending)) return null;
  return (
    <button type="button" disabled={compare.isPending} onClick={() => compare.mutate(pairs)}>
      {compare.isPending ? "Asking for comparisons…" : `Compare ${counted(pairs.length, "further pair")}`}
    </button>
  );
}

interface CellProps {
  pair: Pair;
  known: Known;
  target: string | undefined;
  measure: PairMeasure | undefined;
  /** If true, the measure is named, because pairs have different ones. */
  isNamed: boolean;
}

function Cell({ pair, known, target, measure, isNamed }: CellProps) {
  if (known === "loading") return <small>loading</small>;
  if (known === "not compared") return <CompareLink pair={pair}>not compared yet</CompareLink>;
  if ("why" in known)
    return (
      <CompareLink pair={pair}>
        <span className={styles.why}>{visible(known.why)}</span>
      </CompareLink>
    );
  const { comparison } = known;
  if (comparison.failure)
    return (
      <CompareLink pair={pair} known={known}>
        failed: {visible(comparison.failure.why)}
      </CompareLink>
    );
  if (!comparison.figures)
    return (
      <CompareLink pair={pair} known={known}>
        being compared
      </CompareLink>
    );
  const figures = figuresOf(pair, comparison, { target, measure });
  return (
    <CompareLink pair={pair} known={known}>
      {typeof figures === "string" ? (
        <span className={styles.why}>{visible(figures)}</span>
      ) : "metric" in figures ? (
        <Tested figures={figures} isNamed={isNamed} />
      ) : (
        <Described figures={figures} />
      )}
      {comparison.isStale && <small>out of date: the results of a run have changed</small>}
    </CompareLink>
  );
}

function Tested({ figures, isNamed }: { figures: TestedFigures; isNamed: boolean }) {
  const { metric, difference, interval, verdict, scenarios } = figures;
  const [sign, word] = VERDICTS[verdict];
  return (
    <>
      <strong>{formatDifference(metric, difference)}</strong>
      <small className={styles.figure}>
        {interval === null ? "no interval" : `(${formatDifferences(metric, interval)})`}
      </small>
      <small className={styles.figure}>
        <span aria-hidden="true">{sign}</span> {word}, n = {formatCount(scenarios)}
      </small>
      {isNamed && <small>{METRICS[metric]}</small>}
    </>
  );
}

function Described({ figures: { figure, difference, older, newer } }: { figures: DescribedFigures }) {
  return (
    <>
      <strong>{formatOperatingDifference(figure, difference)}</strong>
      <small className={styles.figure}>
        from {formatOperating(figure, older)} to {formatOperating(figure, newer)}
      </small>
    </>
  );
}

interface CompareLinkProps {
  pair: Pair;
  known?: { comparison: Comparison; isNewest: boolean };
  children: React.ReactNode;
}

function CompareLink({ pair: { older, newer }, known, children }: CompareLinkProps) {
  const comparison = known?.comparison;
  const search = comparison
    ? {
        a: comparison.baseline.runId,
        b: comparison.comparison.runId,
        ...(known.isNewest ? {} : { c: comparison.id }),
      }
    : { a: older.runId, b: newer.runId };
  return (
    <Link to="/compare" search={search} className={styles.cell}>
      <span className="hidden-text">
        Run {newer.number} minus run {older.number}:{" "}
      </span>
      {children}
    </Link>
  );
}
