import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { runsQuery } from "../api/queries";
import { useCanWrite } from "../api/role";
import type { Run } from "../api/types";
import { counted, formatCount, visible } from "../lib/format";
import { countNew } from "../lib/new_rows";
import { isSortedHere, nameOf, sortRuns } from "../lib/run_order";
import { parseRunColumns } from "../lib/search";
import { LoadMore } from "../ui/more";
import page from "../ui/page.module.css";
import { SampleButton } from "../ui/sample_button";
import { Empty, Failure, Loading } from "../ui/states";
import { FirstRun } from "./first_run";
import styles from "./runs.module.css";
import { RunsFilters } from "./runs_filters";
import { RunsTable } from "./runs_table";

const route = getRouteApi("/runs");
const UNFILTERED = new Set(["sort", "cols"]);

export function Runs() {
  const search = route.useSearch();
  const canWrite = useCanWrite();
  const query = useInfiniteQuery(runsQuery(search));
  const all = query.data?.pages.flatMap((page) => page.items) ?? [];
  const { runs, waiting, show } = useUnmoved(
    all,
    query.isSuccess && !query.isFetching,
    JSON.stringify(search),
  );
  const [selected, select] = useState<readonly Run[]>([]);
  const toggle = (run: Run) =>
    select((old) =>
      old.some((each) => each.id === run.id) ? old.filter((each) => each.id !== run.id) : [...old, run],
    );
  const isFiltered = Object.keys(search).some((each) => !UNFILTERED.has(each));
  const only = runs.length === 1 && !query.hasNextPage ? runs[0] : undefined;
  return (
    <>
      <title>Runs · Cupel</title>
      <div className={styles.head} data-actions>
        <h1>Runs</h1>
        {canWrite && (
          <Link to="/new" className={styles.start}>
            New run
          </Link>
        )}
      </div>
      <RunsFilters />
      {query.isPending && <Loading what="runs" />}
      {query.isError && <Failure error={query.error} what="Runs" retry={() => void query.refetch()} />}
      {query.isSuccess &&
        runs.length === 0 &&
        (isFiltered ? <NoMatch hasMore={query.hasNextPage} /> : <None />)}
      {waiting > 0 && (
        <p role="status">
          <button type="button" onClick={show}>
            {formatCount(waiting)} new
          </button>
        </p>
      )}
      {runs.length > 0 && (
        <RunsTable
          runs={sortRuns(runs, search.sort)}
          columns={parseRunColumns(search.cols)}
          selected={selected}
          toggle={toggle}
        />
      )}
      {only && !isFiltered && <FirstRun run={only} canWrite={canWrite} />}
      <Comparison selected={selected} clear={() => select([])} />
      {query.isSuccess && (
        <p className={styles.more}>
          {runs.length > 0 && (
            <span>
              {isSortedHere(search.sort)
                ? `sorted among the ${counted(runs.length, "run")} shown`
                : `${counted(runs.length, "run")} shown`}
            </span>
          )}
          <LoadMore query={query} />
        </p>
      )}
    </>
  );
}

/** Keeps rows from moving under the pointer: runs that start while the list is shown wait above it. */
function useUnmoved(all: readonly Run[], isSettled: boolean, list: string) {
  const [shown, setShown] = useState<{ list: string; first: string } | null>(null);
  const [newest] = all;
  useEffect(() => {
    if (isSettled && newest && shown?.list !== list) setShown({ list, first: newest.id });
  }, [isSettled, newest, list, shown]);
  const ids = all.map((each) => each.id);
  const waiting = countNew(ids, shown?.list === list ? shown.first : null);
  return {
    runs: all.slice(waiting),
    waiting,
    show: () => newest && setShown({ list, first: newest.id }),
  };
}

/** Compares the selected runs: the first one is the baseline of the second one. */
function Comparison({ selected, clear }: { selected: readonly Run[]; clear: () => void }) {
  const [a, b] = selected;
  if (a === undefined) return null;
  return (
    <p className={styles.selection} role="status">
      {b === undefined ? (
        <span>“{visible(nameOf(a))}” is selected. Select another run to compare with it.</span>
      ) : (
        <Link to="/compare" search={{ a: a.id, b: b.id }} className={page.action}>
          Compare with “{visible(nameOf(a))}”
        </Link>
      )}
      <button type="button" onClick={clear}>
        Select none
      </button>
    </p>
  );
}

function NoMatch({ hasMore }: { hasMore: boolean }) {
  return (
    <Empty title={hasMore ? "No such run among the newest" : "No run matches"}>
      <p>
        <Link to="/runs" search={{}}>
          Show all runs
        </Link>
      </p>
    </Empty>
  );
}

function None() {
  if (!useCanWrite()) {
    return (
      <Empty title="No runs yet">
        <p>
          A run asks models the questions of a definition and grades the answers. Starting one needs the role
          member or admin.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No runs yet">
      <p>A run asks models the questions of a definition and grades the answers. Three ways to start one:</p>
      <ul>
        <li>
          <Link to="/new">New run</Link>, if a definition is stored already
        </li>
        <li>
          the sample, with simulated models, which cost nothing: <SampleButton />
        </li>
        <li>
          <Link to="/definitions/import">Import</Link> an evaluation of another tool
        </li>
      </ul>
    </Empty>
  );
}
