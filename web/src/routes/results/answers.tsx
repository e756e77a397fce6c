import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useDeferredValue, useMemo, useRef, useState } from "react";
import { resultsQuery } from "../../api/queries";
import { type LoadedTable, useMessageSearch, useProbeTable } from "../../api/tables";
import type { ColumnResults, Run } from "../../api/types";
import { columnName } from "../../lib/estimates";
import { counted, formatCount } from "../../lib/format";
import { Outcome, type ProbeTable } from "../../lib/probe_table";
import {
  chooseProbes,
  listFigures,
  METRICS,
  type Metric,
  orderProbes,
  type ProbeChoice,
  siblingAt,
  valuesOf,
} from "../../lib/probes";
import { parseRange, type Range, rangeText } from "../../lib/ranges";
import { isRowOrder, neighborOf, rowsOf } from "../../lib/result_rows";
import { type CaseOrder, parseCaseOrder } from "../../lib/row_groups";
import { parseColumns, parseValues, type ResultsSearch } from "../../lib/search";
import { DotsLegend } from "../../ui/dots";
import { useKeys } from "../../ui/keys";
import page from "../../ui/page.module.css";
import { Empty, Failure, Loading } from "../../ui/states";
import styles from "./answers.module.css";
import { useCaseRows } from "./case_rows";
import { ChecksTable } from "./checks";
import { Chips } from "./chips";
import { AnswerGrid } from "./grid";
import { useMatchingCases } from "./matching_cases";
import { MessageSearchState } from "./message_search";
import { FailureTags } from "./tags";
import { Toolbar } from "./toolbar";

const route = getRouteApi("/runs/$id/");

const CostPlot = lazy(() => import("./cost_plot").then((each) => ({ default: each.CostPlot })));
const Drawer = lazy(() => import("./drawer").then((each) => ({ default: each.Drawer })));
const DistributionSection = lazy(() =>
  import("./distribution").then((each) => ({ default: each.DistributionSection })),
);

/** Shows the answers of a run in a table, filtered by the address, and the opened conversation beside it. */
export function Answers({ run }: { run: Run }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const results = useQuery(resultsQuery(run.id));
  const loaded = useProbeTable(run);
  const { table } = loaded;
  const version = useDeferredValue(loaded.version);
  const names = useMemo(
    () =>
      Array.from({ length: table.columns }, (_, position) => {
        const column = results.data?.columns[position];
        return column ? columnName(column) : `column ${position + 1}`;
      }),
    [results.data, table.columns],
  );
  const matching = useMatchingCases(run, loaded, search);
  const messages = useMessageSearch(run, search.said);
  const shownColumns = useShownColumns(search, table, results.data?.columns);
  const choice = useChoice(search, shownColumns, matching.cases, messages.found);
  // It stays the same while only the outcome is chosen, so that its counts are kept.
  const anyOutcome = useChoice(
    { ...search, outcome: undefined },
    shownColumns,
    matching.cases,
    messages.found,
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const listed = useMemo(() => {
    const chosen = chooseProbes(table, choice);
    const order = isRowOrder(search.order) || isCaseOrder(search.order) ? undefined : search.order;
    return orderProbes(table, chosen, order);
  }, [table, version, choice, search.order]);
  const found = useMemo(
    () => rowsOf(table, listed, search.mode, isRowOrder(search.order) ? search.order : undefined),
    [table, listed, search.mode, search.order],
  );
  const caseRows = useCaseRows(run.id, table, listed, found, search);
  const { rows, groups } = caseRows;
  const isListed = useMemo(() => {
    const set = new Uint8Array(table.total);
    for (const index of listed) set[index] = 1;
    return (index: number) => set[index] === 1;
  }, [table, listed]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const metric = useMemo(() => search.by ?? firstVaried(table), [search.by, table, version]);
  const opened = search.t !== undefined && search.t < table.total ? search.t : undefined;
  const change = useCallback(
    (changes: Partial<ResultsSearch>, replace = false) =>
      void navigate({ search: (old) => ({ ...old, ...changes }), replace, resetScroll: false }),
    [navigate],
  );
  const open = useCallback(
    (t: number | undefined) => change({ t, find: undefined }, opened !== undefined),
    [change, opened],
  );
  const grid = useRef<HTMLDivElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  const step = (direction: 1 | -1, onlyFailures: boolean) => {
    const isWanted = (index: number) =>
      isListed(index) && (!onlyFailures || table.outcome[index] === Outcome.FAILED);
    const to = neighborOf(table, rows, shownColumns, opened, direction, isWanted);
    if (to !== undefined) open(to);
  };
  const across = (direction: 1 | -1) => {
    const to = opened === undefined ? -1 : siblingAt(table, opened, direction);
    if (to >= 0) open(to);
  };
  const close = () => change({ t: undefined, find: undefined, beside: undefined });
  const isOpened = () => opened !== undefined;
  useKeys("Answers", {
    n: { does: "open the next failure", act: () => step(1, true) },
    p: { does: "open the previous failure", act: () => step(-1, true) },
    j: { does: "open the next conversation", act: () => step(1, false) },
    k: { does: "open the previous conversation", act: () => step(-1, false) },
    "]": { does: "open the same scenario with the next target", act: () => across(1), isUsable: isOpened },
    "[": {
      does: "open the same scenario with the previous target",
      act: () => across(-1),
      isUsable: isOpened,
    },
    ArrowDown: { does: "go into the table", act: () => focusGrid(grid.current), isUsable: () => !isOpened() },
    Escape: { does: "close the conversation", act: close, isUsable: isOpened },
  });
  const changeRange = (range: Range | undefined) => change({ [metric]: range && rangeText(range) }, true);
  return (
    <section className={styles.section} aria-labelledby="answers">
      <div className={styles.overview}>
        <ChecksTable table={table} version={version} names={names} change={change} />
        <FailureTags table={table} version={version} change={change} />
        {results.data && (
          <Suspense>
            <CostPlot id={run.id} columns={results.data.columns} />
          </Suspense>
        )}
      </div>
      <h2 id="answers">Answers</h2>
      <Chips run={run} table={table} version={version} choice={anyOutcome} search={search} change={change} />
      <Toolbar run={run} table={table} version={version} names={names} search={search} change={change} />
      {search.said !== undefined && (
        <MessageSearchState search={messages} words={search.said} total={table.total} />
      )}
      {loaded.error !== null && (
        <Failure error={loaded.error} what="Some conversations were not loaded" retry={loaded.retry} />
      )}
      {matching.failures.map(({ what, error, retry }) => (
        <Failure key={what} error={error} what={what} retry={retry} />
      ))}
      {caseRows.error !== null && (
        <Failure error={caseRows.error} what="The rows were not ordered" retry={caseRows.retry} />
      )}
      <details className={page.fold} onToggle={(event) => setDrawn(event.currentTarget.open)}>
        <summary>Distribution of scores, times and costs</summary>
        {isDrawn && loaded.loaded > 0 && (
          <Suspense fallback={<Loading what="the distribution" />}>
            <DistributionSection
              table={table}
              version={version}
              metric={metric}
              choice={choice}
              names={names}
              fileName={run.id}
              change={changeRange}
              choose={(by) => change({ by }, true)}
            />
          </Suspense>
        )}
      </details>
      <p className={page.note} role="status">
        {matching.isPending ? (
          "Searching…"
        ) : caseRows.isPending ? (
          "Ordering…"
        ) : (
          <Counts loaded={loaded} listed={listed} rows={rows.length} />
        )}
      </p>
      {rows.length > 0 ? (
        <div className={styles.layout} data-open={opened !== undefined} data-beside={search.beside === true}>
          <AnswerGrid
            frame={grid}
            run={run}
            table={table}
            version={version}
            rows={rows}
            groups={groups}
            group={search.group}
            order={search.order}
            columns={shownColumns}
            results={results.data?.columns}
            shown={parseColumns(search.cols)}
            values={parseValues(search.vars)}
            lines={search.lines ?? "2"}
            isListed={isListed}
            opened={opened}
            open={open}
            choose={(where) => change({ where })}
            sort={(order) => change({ order })}
          />
          {opened !== undefined && (
            <Suspense fallback={<Loading what="the conversation" />}>
              <Drawer
                run={run}
                table={table}
                index={opened}
                find={search.find}
                isBeside={search.beside === true}
                columns={shownColumns}
                compare={(beside) => change({ beside: beside || undefined }, true)}
                open={open}
                step={step}
                close={close}
              />
            </Suspense>
          )}
        </div>
      ) : loaded.loaded < loaded.blocks || matching.isPending || messages.isRunning ? (
        <Loading what="conversations" />
      ) : (
        <NoneListed isFiltered={Object.keys(search).some((each) => !UNFILTERED.has(each))} />
      )}
      {rows.length > 0 && table.repeats > 1 && <DotsLegend />}
    </section>
  );
}

function isCaseOrder(order: ResultsSearch["order"]): order is CaseOrder {
  return parseCaseOrder(order) !== undefined;
}

function focusGrid(frame: HTMLElement | null): void {
  frame?.querySelector<HTMLElement>('[role="gridcell"][tabindex="0"]')?.focus();
}

/** An address may have these besides filters. */
const UNFILTERED: ReadonlySet<string> = new Set([
  "by",
  "order",
  "group",
  "cols",
  "vars",
  "lines",
  "t",
  "beside",
  "find",
]);

function NoneListed({ isFiltered }: { isFiltered: boolean }) {
  const navigate = route.useNavigate();
  if (!isFiltered) {
    return (
      <Empty title="No conversations yet">
        <p>Each conversation appears here within seconds of its end.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No conversation matches">
      <button type="button" onClick={() => void navigate({ search: {}, resetScroll: false })}>
        Show all conversations
      </button>
    </Empty>
  );
}

/** Returns the positions of the columns that the address asks for, or all. */
function useShownColumns(
  { column, target }: ResultsSearch,
  table: ProbeTable,
  results: readonly ColumnResults[] | undefined,
): readonly number[] {
  return useMemo(() => {
    const all = Array.from({ length: table.columns }, (_, position) => position);
    const chosen = all.filter(
      (position) =>
        (column === undefined || position === column) &&
        (target === undefined || results === undefined || results[position]?.targetId === target),
    );
    return chosen.length > 0 ? chosen : all;
  }, [column, target, table.columns, results]);
}

/** Returns the same object until the address asks for something else. */
function useChoice(
  search: ResultsSearch,
  shownColumns: readonly number[],
  matching: ReadonlySet<number> | null,
  said: ReadonlySet<number> | null,
): ProbeChoice {
  const { outcome, decision, tag, check, error } = search;
  const texts = METRICS.map((metric) => search[metric] ?? "").join(" ");
  return useMemo(() => {
    const parsed = texts.split(" ").map((text, position) => [METRICS[position], parseRange(text)] as const);
    const labels = {
      ...(tag !== undefined && { tag }),
      ...(check !== undefined && { check }),
      ...(error !== undefined && { error }),
    };
    return {
      columns: new Set(shownColumns),
      outcome,
      decision,
      labels,
      ranges: Object.fromEntries(parsed),
      matching,
      said,
    };
  }, [shownColumns, outcome, decision, tag, check, error, texts, matching, said]);
}

/** Returns the first figure that differs between conversations: a picture of one bar says nothing. */
function firstVaried(table: ProbeTable): Metric {
  return (
    METRICS.find((metric) => {
      const known = valuesOf(table, metric).filter((each) => !Number.isNaN(each));
      return new Set(known.subarray(0, 1_000)).size > 2;
    }) ?? "time"
  );
}

function Counts({ loaded, listed, rows }: { loaded: LoadedTable; listed: Int32Array; rows: number }) {
  const { table } = loaded;
  const figures = useMemo(() => listFigures(table, listed), [table, listed]);
  const parts = [
    `${formatCount(listed.length)} of ${counted(table.total, "conversation")} in ${counted(rows, "row")}`,
    figures.judged > 0 && `${formatCount(figures.passed)} of ${formatCount(figures.judged)} judged passed`,
    figures.errored > 0 && `${formatCount(figures.errored)} errored`,
    loaded.loaded < loaded.blocks &&
      `${formatCount(Math.min(table.total, loaded.loaded * 1_000))} loaded so far`,
  ];
  return parts.filter(Boolean).join(", ");
}
