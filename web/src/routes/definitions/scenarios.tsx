import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { lastRatesQuery, scenariosQuery } from "../../api/definitions";
import { useCanWrite } from "../../api/role";
import type { Definition, Run, Scenario } from "../../api/types";
import { formatCount, visible } from "../../lib/format";
import {
  parseSorting,
  type Rates,
  type Sorting,
  shownRows,
  shownVariables,
  sortingText,
  type Variable,
  variableColumns,
  variableKey,
} from "../../lib/scenario_table";
import type { ScenariosSearch } from "../../lib/search";
import { More } from "../../ui/more";
import page from "../../ui/page.module.css";
import { Empty, Failure, Loading } from "../../ui/states";
import { TextFilter } from "../../ui/text_filter";
import { AddScenarios } from "./add_scenarios";
import { useDefinition } from "./definition";
import { DeleteScenario } from "./delete_scenario";
import { DropFile } from "./drop_file";
import { ScenarioTable } from "./scenario_table";
import styles from "./scenario_table.module.css";

const route = getRouteApi("/definitions/$id/scenarios");

export function DefinitionScenarios() {
  const { data } = useDefinition();
  return data === undefined ? null : <List definition={data} />;
}

function List({ definition }: { definition: Definition }) {
  const isLatest = route.useSearch().v === undefined;
  const canWrite = useCanWrite();
  const canChange = canWrite && isLatest;
  const query = useInfiniteQuery(scenariosQuery(definition.id, definition.version));
  const items = useMemo(() => query.data?.pages.flatMap((each) => each.items) ?? [], [query.data]);
  const [deleted, setDeleted] = useState<Scenario | null>(null);
  const said = useRef<HTMLParagraphElement>(null);
  const isGone = deleted !== null && !items.some((each) => each.id === deleted.id);
  // The element with the focus disappears with its row.
  useEffect(() => {
    if (isGone) said.current?.focus();
  }, [isGone]);
  return (
    <DropFile isUsable={canChange}>
      {(file) => (
        <>
          {canChange && <AddScenarios definition={definition} dropped={file} />}
          {canWrite && !isLatest && (
            <p className={page.note}>
              A version never changes: scenarios are added, edited and deleted in{" "}
              <Link to="/definitions/$id/scenarios" params={{ id: definition.id }} search={{}}>
                the latest version
              </Link>
              .
            </p>
          )}
          <p ref={said} role="status" tabIndex={-1}>
            {isGone && `Deleted: ${visible(deleted.name || deleted.id)}.`}
          </p>
          {query.isPending && <Loading what="scenarios" />}
          {query.isError && (
            <Failure error={query.error} what="Scenarios" retry={() => void query.refetch()} />
          )}
          {query.isSuccess && items.length === 0 && (
            <Empty title="No scenarios yet">
              <p>
                A scenario is one test: what the user says first, and what a good answer contains.
                {canChange && " Write one above, or drop a CSV or JSON Lines file here."}
              </p>
            </Empty>
          )}
          {items.length > 0 && (
            <Rows
              definition={definition}
              items={items}
              query={query}
              canChange={canChange}
              deleted={setDeleted}
            />
          )}
        </>
      )}
    </DropFile>
  );
}

interface RowsProps {
  definition: Definition;
  items: readonly Scenario[];
  query: {
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isError: boolean;
    fetchNextPage: () => unknown;
  };
  canChange: boolean;
  deleted: (scenario: Scenario) => void;
}

function Rows({ definition, items, query, canChange, deleted }: RowsProps) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const set = useCallback(
    (changes: ScenariosSearch) =>
      void navigate({
        to: ".",
        search: (before) => ({ ...before, ...changes }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const setWords = useCallback((q: string | undefined) => set({ q }), [set]);
  const last = useQuery(lastRatesQuery(definition.id)).data ?? null;
  const all = useMemo(() => variableColumns(items), [items]);
  const variables = shownVariables(all, search.cols);
  const sorting = useMemo(() => parseSorting(search.sort, all), [search.sort, all]);
  const words = search.q ?? "";
  const rates = last?.rates;
  const rows = useMemo(() => shownRows(items, { words, sorting, rates }), [items, words, sorting, rates]);
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = query;
  const readMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isError, fetchNextPage]);
  // What is searched or sorted is all scenarios, not those that happen to be read.
  const isWhole = words !== "" || search.sort !== undefined;
  useEffect(() => {
    if (isWhole) readMore();
  }, [isWhole, readMore]);
  return (
    <section aria-label="Scenarios">
      <search className={page.filters}>
        <TextFilter label="Contains" value={search.q} change={setWords} />
        {all.length > 0 && <Chooser all={all} shown={variables} choose={(cols) => set({ cols })} />}
        <p role="status" className={page.note}>
          {words !== "" && `${formatCount(rows.length)} of ${formatCount(items.length)} match`}
          {isWhole &&
            hasNextPage &&
            `; ${formatCount(definition.scenarioCount - items.length)} are being read`}
        </p>
      </search>
      <ScenarioTable
        definition={definition}
        rows={rows}
        variables={variables}
        rates={rates}
        sorting={sorting}
        sort={(chosen: Sorting | undefined) => set({ sort: chosen && sortingText(chosen) })}
        canChange={canChange}
        readMore={readMore}
        actions={(scenario) => (
          <DeleteScenario
            definitionId={definition.id}
            scenario={scenario}
            deleted={() => deleted(scenario)}
          />
        )}
      />
      <More query={query} shown={items.length} total={definition.scenarioCount} noun="scenario" />
      {last && <RatesOf run={last.run} rates={last.rates} />}
    </section>
  );
}

function RatesOf({ run, rates }: { run: Run; rates: Rates }) {
  if (rates.size === 0) return null;
  return (
    <p className={page.note}>
      Passed: the share of all targets and repeats in the latest completed run,{" "}
      <Link to="/runs/$id" params={{ id: run.id }}>
        {visible(run.name || run.definitionName)}
      </Link>
      , with version {run.definitionVersion}.
    </p>
  );
}

interface ChooserProps {
  all: readonly Variable[];
  shown: readonly Variable[];
  choose: (keys: readonly string[]) => void;
}

function Chooser({ all, shown, choose }: ChooserProps) {
  const keys = shown.map(variableKey);
  const toggle = (key: string) =>
    choose(keys.includes(key) ? keys.filter((each) => each !== key) : [...keys, key]);
  return (
    <details className={styles.chooser}>
      <summary>
        Variables: {shown.length} of {all.length}
      </summary>
      <fieldset aria-label="Variables with a column">
        {all.map((each) => (
          <label key={variableKey(each)}>
            <input
              type="checkbox"
              checked={keys.includes(variableKey(each))}
              onChange={() => toggle(variableKey(each))}
            />
            {visible(each.name)}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
