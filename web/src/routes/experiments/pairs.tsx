import { useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef } from "react";
import { ApiError } from "../../api/client";
import { type Comparison, comparisonsOfRunQuery, createComparison, pairQuery } from "../../api/comparisons";
import { isTerminal } from "../../api/queries";
import type { Experiment, ExperimentSummary } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import { useReadAgain } from "../../api/watching";
import { formatDifference, formatDifferences, METRICS, VERDICTS } from "../../lib/comparison";
import { counted, formatCount, visible } from "../../lib/format";
import {
  comparisonOf,
  figuresOf,
  keyOf,
  MOST_PAIRED,
  type Pair,
  type PairFigures,
  pairsOf,
  targetsOf,
} from "../../lib/pairs";
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

/** Each run compared with each other one. */
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

/** What is known of a pair. */
type Known = { comparison: Comparison } | { why: string } | "not compared" | "loading";

function usePairs({ runs, summary }: Props) {
  const ended = runs.filter((run) => isTerminal(run.status));
  const lists = useQueries({ queries: ended.map((run) => comparisonsOfRunQuery(run.runId)) });
  const listed = lists.flatMap((each) => each.data?.items ?? []);
  const ofBaseline = new Map(summary.rows.map((each) => [each.runId, each.comparisonId]));
  const reasons = new Map(summary.reasons.map((each) => [each.runId, each]));
  const pairs = pairsOf(runs);
  const ids = pairs.map(
    (pair) => comparisonOf(pair, listed)?.id ?? ofBaseline.get(comparedWithBaseline(pair) ?? ""),
  );
  const wanted = [...new Set(ids)].filter((id) => id !== undefined);
  const comparisons = useQueries({ queries: wanted.map(pairQuery) });
  const byId = new Map(wanted.map((id, index) => [id, comparisons[index]]));
  useReadAgain(
    comparisons.flatMap(({ data }) =>
      data && ["QUEUED", "RUNNING"].includes(data.status) ? [pairQuery(data.id).queryKey] : [],
    ),
  );
  const knownOf = (pair: Pair, id: string | undefined): Known => {
    const going = [pair.older, pair.newer].find((run) => !isTerminal(run.status));
    if (going) return { why: `not comparable: run ${going.number} is ${going.status.toLowerCase()}` };
    const query = id === undefined ? undefined : byId.get(id);
    if (query?.data) return { comparison: query.data };
    if (query?.isError) return { why: "its comparison could not be read" };
    if (query || lists.some((each) => each.isPending)) return "loading";
    const pending = reasons.get(comparedWithBaseline(pair) ?? "");
    return pending === undefined || pending.canBeRequested
      ? "not compared"
      : { why: `not comparable: ${pending.reason}` };
  };
  return {
    pairs,
    known: new Map(pairs.map((pair, index) => [keyOf(pair), knownOf(pair, ids[index])])),
    isPending: lists.length > 0 && lists.every((each) => each.isPending),
    error: lists.find((each) => each.isError)?.error,
    retry: () => {
      for (const each of lists) if (each.isError) void each.refetch();
    },
  };
}

/** The run that is compared with the baseline, if the pair is of it. */
function comparedWithBaseline({ older, newer }: Pair): string | undefined {
  return older.isBaseline ? newer.runId : newer.isBaseline ? older.runId : undefined;
}

function Matrix(props: Props) {
  const { runs } = props;
  const { target } = route.useSearch();
  const { pairs, known, isPending, error, retry } = usePairs(props);
  // The API tells why a pair is refused only when it is asked to compare it.
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
  return (
    <>
      {error && <Failure error={error} what="Comparisons of the runs" retry={retry} />}
      <Basis comparisons={comparisons} />
      <div className={styles.bar}>
        <TargetChoice targets={targetsOf(comparisons)} />
        <CompareAll
          experiment={props.experiment}
          pairs={pairs.filter((pair) => of(pair) === "not compared")}
          refuse={(pair, why) => setRefused((old) => ({ ...old, [keyOf(pair)]: `not comparable: ${why}` }))}
        />
      </div>
      <ScrollRegion label="All pairs of runs">
        <table className={styles.matrix}>
          <thead>
            <tr>
              <th scope="col">Newer run</th>
              {runs.slice(0, -1).map((run) => (
                <th key={run.runId} scope="col" title={visible(run.name ?? run.runId)}>
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
                    {visible(newer.name ?? newer.runId)}
                  </Link>
                  {newer.isBaseline && <small>the baseline</small>}
                </th>
                {runs.slice(0, -1).map((older, column) =>
                  column <= row ? (
                    <td key={older.runId}>
                      <Cell pair={{ older, newer }} known={of({ older, newer })} target={target} />
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

/** What the figures are. */
function Basis({ comparisons }: { comparisons: readonly Comparison[] }) {
  const figures = comparisons.flatMap((each) => each.figures ?? []);
  const measures = [...new Set(figures.map((each) => METRICS[each.metric]))];
  const levels = [...new Set(figures.map((each) => `${Math.round(100 * (1 - each.alpha))}%`))];
  return (
    <p className={page.note}>
      The newer run minus the older one, paired by scenario
      {figures.length > 0 && (
        <>
          : the difference of the {measures.join(" or the ")}, with its {levels.join(" or ")} interval
        </>
      )}
      . Each cell leads to its comparison. Among many pairs, a few differ by chance: these intervals are not
      adjusted for how many there are.
    </p>
  );
}

function TargetChoice({ targets }: { targets: readonly string[] }) {
  const { target } = route.useSearch();
  const navigate = route.useNavigate();
  if (targets.length < 2 && target === undefined) return null;
  const [first] = targets;
  return (
    <label>
      Target{" "}
      <select
        value={target ?? first ?? ""}
        onChange={(event) => {
          const chosen = event.target.value;
          void navigate({ search: chosen === first ? {} : { target: chosen }, resetScroll: false });
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
  /** Those that are not compared yet. */
  pairs: readonly Pair[];
  refuse: (pair: Pair, why: string) => void;
}

/** Asks for the comparisons that there are not, as the experiment has them with its baseline. */
function CompareAll({ experiment, pairs, refuse }: CompareAllProps) {
  const client = useQueryClient();
  const canWrite = useCanWrite();
  const compare = useMutation({
    mutationFn: async (wanted: readonly Pair[]) => {
      const { metric, minimumEffect: margin, alpha } = experiment;
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
}

function Cell({ pair, known, target }: CellProps) {
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
      <CompareLink pair={pair} comparison={comparison}>
        failed: {visible(comparison.failure.why)}
      </CompareLink>
    );
  if (!comparison.figures)
    return (
      <CompareLink pair={pair} comparison={comparison}>
        being compared
      </CompareLink>
    );
  const figures = figuresOf(pair, comparison, target);
  return (
    <CompareLink pair={pair} comparison={comparison}>
      {typeof figures === "string" ? (
        <span className={styles.why}>{visible(figures)}</span>
      ) : (
        <Figures figures={figures} />
      )}
      {comparison.isStale && <small>out of date: the results of a run have changed</small>}
    </CompareLink>
  );
}

function Figures({ figures }: { figures: PairFigures }) {
  const { metric, difference, interval, verdict, scenarios } = figures;
  const [sign, word] = VERDICTS[verdict];
  return (
    <>
      <strong>{formatDifference(metric, difference)}</strong>
      <small>{interval === null ? "no interval" : `(${formatDifferences(metric, interval)})`}</small>
      <small>
        <span aria-hidden="true">{sign}</span> {word}, n = {formatCount(scenarios)}
      </small>
    </>
  );
}

interface CompareLinkProps {
  pair: Pair;
  comparison?: Comparison;
  children: React.ReactNode;
}

/** With the sides as they were compared. */
function CompareLink({ pair: { older, newer }, comparison, children }: CompareLinkProps) {
  const search = comparison
    ? { a: comparison.baseline.runId, b: comparison.comparison.runId }
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
