import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useId } from "react";
import {
  comparisonOfQuery,
  comparisonQuery,
  createComparison,
  terminalRunsQuery,
} from "../../api/comparisons";
import { sessionQuery } from "../../api/queries";
import type { ComparisonFigures, Run } from "../../api/types";
import { byComparability } from "../../lib/comparable";
import { visible } from "../../lib/format";
import { RunOptionsList } from "../../ui/run_options_list";
import { Empty, Failure, Loading } from "../../ui/states";
import styles from "./compare.module.css";
import { Comparison } from "./comparison";

const route = getRouteApi("/compare");

export function ComparePage() {
  const { a, b, c } = route.useSearch();
  const navigate = route.useNavigate();
  const runs = useQuery(terminalRunsQuery);
  return (
    <>
      <title>Compare · Cupel</title>
      <h1>Compare two runs</h1>
      {runs.isPending && <Loading what="runs" />}
      {runs.isError && <Failure error={runs.error} what="Runs" retry={() => void runs.refetch()} />}
      {runs.data && (
        <div className={styles.sides}>
          <Side
            label="Baseline"
            runs={runs.data}
            value={a}
            other={b}
            change={(chosen) => void navigate({ search: (old) => ({ b: old.b, a: chosen }) })}
          />
          <button
            type="button"
            disabled={a === undefined && b === undefined}
            onClick={() => void navigate({ search: { a: b, b: a } })}
          >
            Swap
          </button>
          <Side
            label="Compared run"
            runs={runs.data}
            value={b}
            other={a}
            change={(chosen) => void navigate({ search: (old) => ({ a: old.a, b: chosen }) })}
          />
        </div>
      )}
      {a === undefined || b === undefined ? (
        <Empty title="Choose two runs">
          <p>
            Differences are paired by scenario, so both runs need scenarios in common: two runs of one
            definition, or of a fork of it. Runs that have not ended cannot be compared.
          </p>
        </Empty>
      ) : a === b ? (
        <Empty title="Both are the same run">
          <p>Choose another run for one side. The analysis of a run compares its targets.</p>
        </Empty>
      ) : (
        <Found key={`${a} ${b}`} baseline={a} comparison={b} named={c} />
      )}
    </>
  );
}

interface SideProps {
  label: string;
  runs: readonly Run[];
  value: string | undefined;
  /** The run of the other side; those of its definition are listed first. */
  other: string | undefined;
  change: (id: string | undefined) => void;
}

function Side({ label, runs, value, other, change }: SideProps) {
  const id = useId();
  const { comparable, others } = byComparability(runs, new Set(other === undefined ? [] : [other]));
  const isListed = runs.some((run) => run.id === value);
  return (
    <div className={styles.side}>
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value ?? ""} onChange={(event) => change(event.target.value || undefined)}>
        <option value="">choose a run</option>
        {value !== undefined && !isListed && <option value={value}>{visible(value)}</option>}
        {comparable.length === 0 ? (
          <RunOptionsList runs={others} />
        ) : (
          <>
            <optgroup label="Runs of the same definition">
              <RunOptionsList runs={comparable} />
            </optgroup>
            <optgroup label="Other runs, perhaps without scenarios in common">
              <RunOptionsList runs={others} />
            </optgroup>
          </>
        )}
      </select>
      {value !== undefined && (
        <Link to="/runs/$id" params={{ id: value }}>
          Open this run
        </Link>
      )}
    </div>
  );
}

interface FoundProps {
  baseline: string;
  comparison: string;
  named: string | undefined;
}

/** Shows the named or the newest comparison of these runs, or the way to one. */
function Found({ baseline, comparison, named }: FoundProps) {
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const session = useQuery(sessionQuery);
  const other = useQuery({ ...comparisonQuery(named ?? ""), enabled: named !== undefined });
  const isNamed = other.data?.baseline.runId === baseline && other.data.comparison.runId === comparison;
  const found = useQuery(comparisonOfQuery(baseline, comparison));
  const make = useMutation({
    mutationFn: (like: ComparisonFigures | null | undefined) =>
      createComparison(
        baseline,
        comparison,
        like ? { metric: like.metric, margin: like.margin, alpha: like.alpha } : undefined,
      ),
    onSuccess: (made) => {
      client.setQueryData(comparisonOfQuery(baseline, comparison).queryKey, made.id);
      void client.invalidateQueries({ queryKey: ["comparison", made.id] });
      if (named !== undefined) void navigate({ search: ({ c: _, ...old }) => old, replace: true });
    },
  });
  const id = isNamed ? named : found.data;
  const shown = useQuery({ ...comparisonQuery(id ?? ""), enabled: typeof id === "string" });
  const mayChange = session.data !== undefined && session.data.role !== "viewer";
  const again = mayChange ? () => make.mutate(shown.data?.figures) : undefined;
  const isMissing = found.data === null && id === null && !(named !== undefined && other.isPending);
  const { mutate: compare, isIdle } = make;
  // Both runs were chosen, so nothing is left to ask.
  useEffect(() => {
    if (isMissing && mayChange && isIdle) compare(undefined);
  }, [isMissing, mayChange, isIdle, compare]);
  const retry = () => (make.isError ? make.mutate(undefined) : void found.refetch());
  const problem = found.error ?? shown.error ?? make.error;
  if (problem) return <Failure error={problem} what="The comparison" retry={retry} />;
  if (named !== undefined && other.isPending) return <Loading what="the comparison" />;
  if (id === null && session.data?.role === "viewer") {
    return (
      <Empty title="Not compared yet">
        <p>Comparing runs needs the role member or admin; this session has viewer.</p>
      </Empty>
    );
  }
  if (id === null) return <Loading what="the comparison" />;
  if (!shown.data) return <Loading what="the comparison" />;
  if (shown.data.status === "FAILED") {
    const { failure } = shown.data;
    return (
      <Empty title="The comparison failed">
        <p>{failure ? visible(`${failure.where}: ${failure.why}`) : "No reason is recorded."}</p>
        {again && (
          <button type="button" onClick={again}>
            Compare again
          </button>
        )}
      </Empty>
    );
  }
  if (!shown.data.figures) {
    return (
      <p role="status" className={styles.note}>
        The comparison is being computed…
      </p>
    );
  }
  return <Comparison comparison={shown.data} figures={shown.data.figures} again={again} />;
}
