import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { finalResultsQuery, isTerminal, runsQuery } from "../api/queries";
import { useCanWrite } from "../api/role";
import type { Run } from "../api/types";
import { counted, formatAgo, formatCount, formatUsd, visible } from "../lib/format";
import { countNew } from "../lib/new_rows";
import { outcomesOf, passRates } from "../lib/pass_rates";
import { type RunStatus, type RunsSearch, STATUSES } from "../lib/search";
import { targetNames } from "../lib/targets";
import { OutcomeBar, ProgressBar } from "../ui/bars";
import { FigureHeader } from "../ui/figure_header";
import { LoadMore } from "../ui/more";
import { useNow } from "../ui/now";
import page from "../ui/page.module.css";
import { SampleButton } from "../ui/sample_button";
import { useSeen } from "../ui/seen";
import { Empty, Failure, Loading } from "../ui/states";
import { Status, statusWord } from "../ui/status";
import { TextFilter } from "../ui/text_filter";
import { FirstRun } from "./first_run";
import { RunActions } from "./run_actions/run_actions";
import styles from "./runs.module.css";

const route = getRouteApi("/runs");
const MAX_SELECTED = 2;

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
  const isFiltered = Object.keys(search).length > 0;
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
      <Filters />
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
      {runs.length > 0 && <Table runs={runs} selected={selected} toggle={toggle} />}
      {only && !isFiltered && <FirstRun run={only} canWrite={canWrite} />}
      <Comparison selected={selected} clear={() => select([])} />
      {query.isSuccess && (
        <p className={styles.more}>
          {runs.length > 0 && <span>{counted(runs.length, "run")} shown</span>}
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

/** Links of other screens set these filters. */
const LINKED = { definition: "Definition", experiment: "Experiment", eval: "Eval", tag: "Tag" } as const;

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (changes: RunsSearch) => void navigate({ search: (old) => ({ ...old, ...changes }) });
  const seek = useCallback(
    (name: string | undefined) => void navigate({ search: (old) => ({ ...old, name }), replace: true }),
    [navigate],
  );
  return (
    <search className={page.filters}>
      <label>
        Status
        <select
          value={search.status ?? ""}
          onChange={(event) => set({ status: (event.target.value || undefined) as RunStatus | undefined })}
        >
          <option value="">all</option>
          {STATUSES.map((each) => (
            <option key={each} value={each}>
              {statusWord(each).toLowerCase()}
            </option>
          ))}
        </select>
      </label>
      <TextFilter label="Name contains" value={search.name} change={seek} />
      <label>
        Order
        <select
          value={search.sort ?? ""}
          onChange={(event) => set({ sort: event.target.value === "createdAt" ? "createdAt" : undefined })}
        >
          <option value="">newest first</option>
          <option value="createdAt">oldest first</option>
        </select>
      </label>
      {(Object.keys(LINKED) as (keyof typeof LINKED)[]).map((each) => {
        const chosen = search[each];
        return (
          chosen && (
            <button key={each} type="button" onClick={() => set({ [each]: undefined })}>
              {LINKED[each]} {visible(chosen)} <span aria-hidden="true">✕</span>
              <span className="hidden-text">, remove this filter</span>
            </button>
          )
        );
      })}
    </search>
  );
}

const nameOf = (run: Run) => visible(run.name ?? run.definitionName);

/** Compares the selected runs: the first one is the baseline of the second one. */
function Comparison({ selected, clear }: { selected: readonly Run[]; clear: () => void }) {
  const [a, b] = selected;
  if (a === undefined) return null;
  return (
    <p className={styles.selection} role="status">
      {b === undefined ? (
        <span>“{nameOf(a)}” is selected. Select another run to compare with it.</span>
      ) : (
        <Link to="/compare" search={{ a: a.id, b: b.id }} className={page.action}>
          Compare with “{nameOf(a)}”
        </Link>
      )}
      <button type="button" onClick={clear}>
        Select none
      </button>
    </p>
  );
}

interface TableProps {
  runs: readonly Run[];
  selected: readonly Run[];
  toggle: (run: Run) => void;
}

function Table({ runs, selected, toggle }: TableProps) {
  const now = useNow();
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">
            <span className="hidden-text">Select</span>
          </th>
          <th scope="col">Run</th>
          <th scope="col">Status</th>
          <th scope="col">Targets</th>
          <th scope="col">Conversations</th>
          <FigureHeader>Passed</FigureHeader>
          <FigureHeader>Cost</FigureHeader>
          <FigureHeader>Created</FigureHeader>
          <th scope="col">
            <span className="hidden-text">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.id}>
            <td className={styles.select}>
              <Select run={run} selected={selected} toggle={toggle} />
            </td>
            <th scope="row" className={styles.name}>
              <Link to="/runs/$id" params={{ id: run.id }}>
                {nameOf(run)}
              </Link>
              <small>
                {run.name ? `${visible(run.definitionName)}, ` : ""}version {run.definitionVersion}
              </small>
              <span className={page.tags}>
                {run.tags.map((tag) => (
                  <Link key={tag} to="/runs" search={{ tag }}>
                    {visible(tag)}
                  </Link>
                ))}
              </span>
            </th>
            <td>
              <Status status={run.status} />
            </td>
            <td className={styles.models}>{visible(targetNames(run.config.targets))}</td>
            <td className={styles.progress}>
              <Progress run={run} />
            </td>
            <td className={`figure ${styles.rate}`}>
              <Rate run={run} />
            </td>
            <td className={`figure ${styles.cost}`}>{formatUsd(run.spend.costUsd)}</td>
            <td className="figure" title={new Date(run.createdAt).toLocaleString()}>
              {formatAgo(run.createdAt, now)}
            </td>
            <td className={styles.actions}>
              <RunActions run={run} isInList />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface SelectProps extends Omit<TableProps, "runs"> {
  run: Run;
}

function Select({ run, selected, toggle }: SelectProps) {
  const isSelected = selected.some((each) => each.id === run.id);
  return (
    <input
      type="checkbox"
      aria-label={`Select ${nameOf(run)} to compare`}
      checked={isSelected}
      disabled={!isSelected && selected.length === MAX_SELECTED}
      onChange={() => toggle(run)}
    />
  );
}

/** Shows what came of the conversations once the row's rate is read; until then, how many are completed. */
function Progress({ run }: { run: Run }) {
  const { data } = useQuery({ ...finalResultsQuery(run.id, run.updatedAt), enabled: false });
  const { total, completed, failed } = run.progress;
  return (
    <>
      {data?.isComplete ? (
        <OutcomeBar total={total} outcomes={outcomesOf(data.columns)} />
      ) : (
        <ProgressBar total={total} completed={completed} errored={failed} />
      )}
      <small aria-hidden="true">
        {formatCount(completed)} of {formatCount(total)}
        {failed > 0 && <span className={styles.errored}>, {formatCount(failed)} errored</span>}
      </small>
    </>
  );
}

/** Shows the rate of a run that is over, once its row has been in sight. */
function Rate({ run }: { run: Run }) {
  const element = useRef<HTMLSpanElement>(null);
  const isSeen = useSeen(element);
  const isOver = isTerminal(run.status);
  const { data } = useQuery({ ...finalResultsQuery(run.id, run.updatedAt), enabled: isSeen && isOver });
  const rates = data ? passRates(data.columns) : null;
  return (
    <span ref={element}>
      {rates?.rate}
      {rates && <small>{rates.note}</small>}
    </span>
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
