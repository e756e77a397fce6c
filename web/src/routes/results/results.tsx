import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { isTerminal, progressQuery, resultsQuery, runQuery } from "../../api/queries";
import type { Results } from "../../api/types";
import { downloadText } from "../../charts/download";
import { csvText } from "../../lib/csv";
import { decisionAxis } from "../../lib/estimates";
import { counted, formatCount, visible } from "../../lib/format";
import { isJudgeUncalibrated } from "../../lib/judge_accuracy";
import { leftOutText } from "../../lib/left_out_checks";
import { resultsTable } from "../../lib/results_table";
import { IconButton } from "../../ui/icon_button";
import { Empty, Failure, Loading } from "../../ui/states";
import { BudgetSection } from "../budget";
import { Answers } from "./answers";
import { ErrorsSection, UnscoredSection } from "./causes";
import { Explanation } from "./explanation";
import { ProgressSection } from "./progress";
import styles from "./summary.module.css";
import { TargetTable } from "./targets";

const route = getRouteApi("/runs/$id/");

/** Shows what came of a run: the figures of its targets, and the answers below them. */
export function ResultsPage() {
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
      {results.data && (
        <ResultsSection
          id={id}
          results={results.data}
          readAt={results.dataUpdatedAt}
          ended={progress.data ? progress.data.completed + progress.data.errored : 0}
          isOver={isOver}
        />
      )}
      {run.data && run.data.progress.total > 0 && <Answers key={run.data.progress.total} run={run.data} />}
      {results.data && <ErrorsSection id={id} results={results.data} />}
      {results.data && <UnscoredSection id={id} results={results.data} />}
      {run.data && isOver && <BudgetSection run={run.data} />}
    </>
  );
}

interface ResultsProps {
  id: string;
  results: Results;
  readAt: number;
  /** So many conversations have ended by the progress, which is read more often. */
  ended: number;
  isOver: boolean;
}

function ResultsSection({ id, results, readAt, ended, isOver }: ResultsProps) {
  if (results.recorded === 0 && ended > 0)
    return (
      <p role="status" className={styles.note}>
        {counted(ended, "conversation")} ended. The first results are being counted.
      </p>
    );
  if (results.recorded === 0) return isOver ? <NoResults id={id} /> : <NoResultsYet />;
  const isFinal = isTerminal(results.status);
  const leftOut = leftOutText(results.columns);
  return (
    <section className={styles.section} aria-labelledby="results">
      <div className={styles.titled}>
        <h2 id="results">Results</h2>
        <IconButton
          label="Download as CSV"
          icon={Download}
          act={() => downloadText(csvText(resultsTable(results.columns)), `${id}.csv`, "text/csv")}
        />
      </div>
      {!(results.isComplete && isFinal) && (
        <p role="status" className={styles.note}>
          So far: {formatCount(results.counted)} of {counted(results.total, "conversation")} counted
          {!isFinal && ` by ${new Date(readAt).toLocaleTimeString()}`}.
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
      <TargetTable id={id} columns={results.columns} />
      <Explanation
        hasRates={results.columns.some((each) => each.estimate.passRate.trials > 0)}
        hasDecisions={decisionAxis(results.columns) !== null}
      />
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
