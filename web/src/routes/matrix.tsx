import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useMemo } from "react";
import { resultsQuery, runQuery } from "../api/queries";
import { type LoadedTable, useAllCaseNames, useCaseNames, useProbeTable } from "../api/tables";
import type { Run } from "../api/types";
import { dimensionsOf, levelsOf, matchingCases } from "../lib/cases";
import { counted, formatCount, visible } from "../lib/format";
import { chooseRows, MODES, type Mode, ORDERS, type Order } from "../lib/matrix";
import { DotsLegend } from "../ui/dots";
import { Empty, Failure, Loading } from "../ui/states";
import { TextFilter } from "../ui/text_filter";
import styles from "./matrix.module.css";
import { MatrixGrid } from "./matrix_grid";
import { MatrixRow } from "./matrix_row";

const route = getRouteApi("/runs/$id/matrix");
/** The names of these cases show which dimensions the run has. */
const FIRST = [0];

/** Shows prompts and targets side by side: a row per case, a column per target and prompt. */
export function MatrixPage() {
  const { id } = route.useParams();
  const { data: run } = useQuery(runQuery(id));
  if (!run) return <Loading what="the matrix" />;
  if (run.progress.total === 0) return <Empty title="This run has no conversations" />;
  return <Matrix key={run.progress.total} run={run} />;
}

function Matrix({ run }: { run: Run }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const loaded = useProbeTable(run);
  const results = useQuery(resultsQuery(run.id));
  const { table, version } = loaded;
  const needsNames = search.q !== undefined || search.dim !== undefined;
  const names = useAllCaseNames(run.id, table.cases, needsNames);
  const first = useCaseNames(run.id, FIRST);
  const dimensions = useMemo(() => dimensionsOf(names.data ?? [...first.values()]), [names.data, first]);
  const levels = useMemo(() => levelsOf(names.data, search.dim), [names.data, search.dim]);
  const matching = useMemo(() => matchingCases(names.data, search.q), [names.data, search.q]);
  const drawn = useDeferredValue(version);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `drawn` says that the table has changed
  const rows = useMemo(
    () => chooseRows(table, { mode: search.mode, order: search.order, matching, levels }),
    [table, drawn, search.mode, search.order, matching, levels],
  );
  const opened = search.row !== undefined && search.row < table.cases ? search.row : undefined;
  const open = (row: number, column: number) =>
    void navigate({
      search: (old) => ({ ...old, row, column: column || undefined, repeat: undefined }),
      replace: opened !== undefined,
    });
  const close = () =>
    void navigate({ search: (old) => ({ ...old, row: undefined, column: undefined, repeat: undefined }) });
  const isSearching = needsNames && names.isPending;
  return (
    <>
      <Toolbar dimensions={dimensions} />
      <p className={styles.counts} role="status">
        <Counts loaded={loaded} shown={rows.length} isSearching={isSearching} />
      </p>
      {loaded.error !== null && (
        <Failure error={loaded.error} what="Some conversations were not loaded" retry={loaded.retry} />
      )}
      {names.isError && (
        <Failure error={names.error} what="Scenario names" retry={() => void names.refetch()} />
      )}
      {rows.length > 0 ? (
        <MatrixGrid
          run={run}
          table={table}
          version={version}
          rows={rows}
          groups={search.dim !== undefined && levels ? { name: search.dim, levels } : undefined}
          columns={results.data?.columns}
          isCompact={search.compact === true}
          opened={opened === undefined ? undefined : { row: opened, column: search.column ?? 0 }}
          open={open}
        />
      ) : loaded.loaded < loaded.blocks || isSearching ? (
        <Loading what="conversations" />
      ) : (
        <Empty title="No row matches">
          <p>{EMPTY[search.mode ?? "all"]}</p>
          <button type="button" onClick={() => void navigate({ search: {} })}>
            Show all rows
          </button>
        </Empty>
      )}
      {opened !== undefined && (
        <MatrixRow
          key={opened}
          run={run}
          table={table}
          row={opened}
          column={search.column ?? 0}
          repeat={Math.min(search.repeat ?? 0, table.repeats - 1)}
          close={close}
        />
      )}
      <DotsLegend />
    </>
  );
}

const SHOW: Record<Mode, string> = {
  failures: "with a failure",
  errors: "with an error",
  differ: "targets differ",
  unstable: "repeats differ",
};
const EMPTY: Record<Mode | "all", string> = {
  all: "No name of a scenario has these words.",
  failures: "No judged conversation failed.",
  errors: "No conversation was ended by an error of the infrastructure.",
  differ: "All targets agree: each passes in at least half of its repeats, or none does.",
  unstable: "No target answers differently when it is asked again.",
};
const ORDER: Record<Order, string> = { lowest: "lowest first", spread: "largest difference first" };

function Toolbar({ dimensions }: { dimensions: readonly string[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const seek = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q }), replace: true }),
    [navigate],
  );
  return (
    <search className={styles.toolbar}>
      <label>
        Rows
        <select
          value={search.mode ?? ""}
          onChange={(event) => {
            const mode = (event.target.value || undefined) as Mode | undefined;
            void navigate({ search: (old) => ({ ...old, mode }) });
          }}
        >
          <option value="">all</option>
          {MODES.map((each) => (
            <option key={each} value={each}>
              {SHOW[each]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Order
        <select
          value={search.order ?? ""}
          onChange={(event) => {
            const order = (event.target.value || undefined) as Order | undefined;
            void navigate({ search: (old) => ({ ...old, order }) });
          }}
        >
          <option value="">of the run</option>
          {ORDERS.map((each) => (
            <option key={each} value={each}>
              {ORDER[each]}
            </option>
          ))}
        </select>
      </label>
      {(dimensions.length > 0 || search.dim !== undefined) && (
        <label>
          Group by
          <select
            value={search.dim ?? ""}
            onChange={(event) => {
              const dim = event.target.value || undefined;
              void navigate({ search: (old) => ({ ...old, dim }) });
            }}
          >
            <option value="">nothing</option>
            {[...new Set([...dimensions, ...(search.dim === undefined ? [] : [search.dim])])].map((each) => (
              <option key={each} value={each}>
                {visible(each)}
              </option>
            ))}
          </select>
        </label>
      )}
      <TextFilter label="Scenario contains" value={search.q} change={seek} />
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={!search.compact}
          onChange={(event) => {
            const compact = event.target.checked ? undefined : true;
            void navigate({ search: (old) => ({ ...old, compact }) });
          }}
        />
        First words of the answers
      </label>
    </search>
  );
}

interface CountsProps {
  loaded: LoadedTable;
  shown: number;
  isSearching: boolean;
}

function Counts({ loaded, shown, isSearching }: CountsProps) {
  const { table } = loaded;
  const conversations = Math.min(table.total, loaded.loaded * 1_000);
  return (
    <>
      {isSearching ? "Searching…" : `${formatCount(shown)} of ${counted(table.cases, "row")}`}
      {loaded.loaded < loaded.blocks &&
        `, ${formatCount(conversations)} of ${counted(table.total, "conversation")} loaded`}
    </>
  );
}
