import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useMemo } from "react";
import { resultsQuery, runQuery } from "../../api/queries";
import { type LoadedTable, useAllCaseNames, useMessageSearch, useProbeTable } from "../../api/tables";
import type { Run } from "../../api/types";
import { matchingCases } from "../../lib/cases";
import { columnName } from "../../lib/estimates";
import { counted, formatCount } from "../../lib/format";
import type { ProbeTable } from "../../lib/probe_table";
import {
  chooseProbes,
  listFigures,
  METRICS,
  type Metric,
  neighborAt,
  orderProbes,
  type ProbeChoice,
  siblingAt,
  valuesOf,
} from "../../lib/probes";
import { parseRange, type Range, rangeText } from "../../lib/ranges";
import { type ProbesSearch, parseColumns } from "../../lib/search";
import { useKeys } from "../../ui/keys";
import page from "../../ui/page.module.css";
import { Empty, Failure, Loading } from "../../ui/states";
import { Conversation } from "../conversation";
import { DistributionSection } from "./distribution";
import { MOST_LISTED, ProbeList } from "./list";
import { MessageSearchState } from "./message_search";
import styles from "./probes.module.css";
import { Toolbar } from "./toolbar";

const route = getRouteApi("/runs/$id/probes");

/** Shows every conversation of a run by its figures: a range of a distribution filters the list below. */
export function ProbesPage() {
  const { id } = route.useParams();
  const { data: run } = useQuery(runQuery(id));
  if (!run) return <Loading what="the conversations" />;
  if (run.progress.total === 0) return <Empty title="This run has no conversations" />;
  return <Probes key={run.progress.total} run={run} />;
}

function Probes({ run }: { run: Run }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const results = useQuery(resultsQuery(run.id));
  const loaded = useProbeTable(run);
  const { table } = loaded;
  const version = useDeferredValue(loaded.version);
  const all = useAllCaseNames(run.id, table.cases, search.q !== undefined);
  const names = useMemo(
    () =>
      Array.from({ length: table.columns }, (_, position) => {
        const column = results.data?.columns[position];
        return column ? columnName(column) : `column ${position + 1}`;
      }),
    [results.data, table.columns],
  );
  const matching = useMemo(() => matchingCases(all.data, search.q), [all.data, search.q]);
  const messages = useMessageSearch(run, search.said);
  const choice = useChoice(search, matching, messages.found);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const hasDecisions = useMemo(() => table.decision.some((code) => code !== 0), [table, version]);
  const columns = useMemo(
    () => parseColumns(search.cols).filter((each) => hasDecisions || each !== "decision"),
    [search.cols, hasDecisions],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const listed = useMemo(
    () => orderProbes(table, chooseProbes(table, choice), search.order),
    [table, version, choice, search.order],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const metric = useMemo(() => search.by ?? firstKnown(table), [search.by, table, version]);
  const opened = search.t !== undefined && search.t < table.total ? search.t : undefined;
  const open = useCallback(
    (t: number | undefined) =>
      void navigate({ search: (old) => ({ ...old, t }), replace: opened !== undefined }),
    [navigate, opened],
  );
  const close = () => open(undefined);
  const change = (range: Range | undefined) =>
    void navigate({
      search: (old) => ({ ...old, [metric]: range && rangeText(range) }),
      replace: true,
      resetScroll: false,
    });
  const step = (direction: 1 | -1, onlyFailures: boolean) => {
    const from = opened === undefined ? -1 : listed.indexOf(opened);
    const to = listed[neighborAt(table, listed, from, direction, onlyFailures)];
    if (to !== undefined) open(to);
  };
  const across = (direction: 1 | -1) => {
    const to = opened === undefined ? -1 : siblingAt(table, opened, direction);
    if (to >= 0) open(to);
  };
  const isOpened = () => opened !== undefined;
  useKeys("Conversations", {
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
    Escape: { does: "close the conversation", act: close, isUsable: isOpened },
  });
  const isSearching = search.q !== undefined && all.isPending;
  return (
    <>
      <Toolbar names={names} metric={metric} labels={table.labels} hasDecisions={hasDecisions} />
      {search.said !== undefined && (
        <MessageSearchState search={messages} words={search.said} total={table.total} />
      )}
      {loaded.error !== null && (
        <Failure error={loaded.error} what="Some conversations were not loaded" retry={loaded.retry} />
      )}
      {all.isError && <Failure error={all.error} what="Scenario names" retry={() => void all.refetch()} />}
      {loaded.loaded > 0 && (
        <DistributionSection
          table={table}
          version={version}
          metric={metric}
          choice={choice}
          names={names}
          fileName={run.id}
          change={change}
        />
      )}
      <p className={page.note} role="status">
        {isSearching ? "Searching…" : <Counts loaded={loaded} listed={listed} />}
      </p>
      {listed.length > 0 ? (
        <ProbeList
          run={run}
          table={table}
          version={version}
          listed={listed}
          names={names}
          columns={columns}
          order={search.order}
          sort={(order) => void navigate({ search: (old) => ({ ...old, order }), replace: true })}
          opened={opened}
          open={open}
        />
      ) : loaded.loaded < loaded.blocks || isSearching || messages.isRunning ? (
        <Loading what="conversations" />
      ) : (
        <NoneListed isFiltered={Object.keys(search).some((each) => !UNFILTERED.has(each))} />
      )}
      {opened !== undefined && (
        <section className={styles.panel} aria-label="Conversation">
          <p className={page.bar} data-actions>
            <button type="button" onClick={() => step(-1, true)}>
              Previous failure
            </button>
            <button type="button" onClick={() => step(1, true)}>
              Next failure
            </button>
            <button type="button" onClick={close}>
              Close
            </button>
          </p>
          <Conversation key={opened} run={run} table={table} index={opened} />
        </section>
      )}
    </>
  );
}

/** An address may have these besides filters. */
const UNFILTERED: ReadonlySet<string> = new Set(["by", "order", "cols", "t"]);

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
      <button type="button" onClick={() => void navigate({ search: {} })}>
        Show all conversations
      </button>
    </Empty>
  );
}

/** Returns the same object until the address asks for something else. */
function useChoice(
  search: ProbesSearch,
  matching: ReadonlySet<number> | null,
  said: ReadonlySet<number> | null,
): ProbeChoice {
  const { column, outcome, decision, tag, check, error } = search;
  const texts = METRICS.map((metric) => search[metric] ?? "").join(" ");
  return useMemo(() => {
    const parsed = texts.split(" ").map((text, position) => [METRICS[position], parseRange(text)] as const);
    const labels = {
      ...(tag !== undefined && { tag }),
      ...(check !== undefined && { check }),
      ...(error !== undefined && { error }),
    };
    return { column, outcome, decision, labels, ranges: Object.fromEntries(parsed), matching, said };
  }, [column, outcome, decision, tag, check, error, texts, matching, said]);
}

/** Returns the first figure that any conversation has: not every run has scores. */
function firstKnown(table: ProbeTable): Metric {
  return METRICS.find((metric) => valuesOf(table, metric).some((each) => !Number.isNaN(each))) ?? "time";
}

function Counts({ loaded, listed }: { loaded: LoadedTable; listed: Int32Array }) {
  const { table } = loaded;
  const figures = useMemo(() => listFigures(table, listed), [table, listed]);
  const parts = [
    `${formatCount(listed.length)} of ${counted(table.total, "conversation")}`,
    figures.judged > 0 && `${formatCount(figures.passed)} of ${formatCount(figures.judged)} judged passed`,
    figures.errored > 0 && `${formatCount(figures.errored)} errored`,
    listed.length > MOST_LISTED && `the first ${formatCount(MOST_LISTED)} are listed`,
    loaded.loaded < loaded.blocks &&
      `${formatCount(Math.min(table.total, loaded.loaded * 1_000))} loaded so far`,
  ];
  return parts.filter(Boolean).join(", ");
}
