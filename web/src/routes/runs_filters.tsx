import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";
import { visible } from "../lib/format";
import { ORDER_WORDS, RUN_ORDERS, type RunOrder } from "../lib/run_order";
import {
  parseRunColumns,
  RUN_COLUMNS,
  type RunColumn,
  type RunStatus,
  type RunsSearch,
  STATUSES,
} from "../lib/search";
import page from "../ui/page.module.css";
import { statusWord } from "../ui/status";
import { TextFilter } from "../ui/text_filter";
import styles from "./runs.module.css";
import { COLUMN_WORDS } from "./runs_table";

const route = getRouteApi("/runs");

/** Links of other screens set these filters. */
const LINKED = { definition: "Definition", experiment: "Experiment", eval: "Eval", tag: "Tag" } as const;

export function RunsFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (changes: RunsSearch) => void navigate({ search: (old) => ({ ...old, ...changes }) });
  const seek = useCallback(
    (name: string | undefined) => void navigate({ search: (old) => ({ ...old, name }), replace: true }),
    [navigate],
  );
  const columns = parseRunColumns(search.cols);
  const toggle = (column: RunColumn) => {
    const chosen = RUN_COLUMNS.filter((each) => (each === column) !== columns.includes(each));
    set({ cols: chosen.join(",") || undefined });
  };
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
      <Day label="Created from" value={search.from} max={search.to} change={(from) => set({ from })} />
      <Day label="to" value={search.to} min={search.from} change={(to) => set({ to })} />
      <label>
        Order
        <select
          value={search.sort ?? ""}
          onChange={(event) => set({ sort: (event.target.value || undefined) as RunOrder | undefined })}
        >
          <option value="">newest first</option>
          {RUN_ORDERS.map((each) => (
            <option key={each} value={each}>
              {ORDER_WORDS[each]}
            </option>
          ))}
        </select>
      </label>
      <fieldset className={`${page.choices} ${styles.columns}`}>
        <legend className="hidden-text">Further columns</legend>
        {RUN_COLUMNS.map((each) => (
          <label key={each}>
            <input type="checkbox" checked={columns.includes(each)} onChange={() => toggle(each)} />
            {COLUMN_WORDS[each]}
          </label>
        ))}
      </fieldset>
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

interface DayProps {
  label: string;
  value: string | undefined;
  min?: string | undefined;
  max?: string | undefined;
  change: (day: string | undefined) => void;
}

function Day({ label, value, min, max, change }: DayProps) {
  return (
    <label>
      {label}
      <input
        type="date"
        value={value ?? ""}
        min={min}
        max={max}
        onChange={(event) => change(event.target.value || undefined)}
      />
    </label>
  );
}
