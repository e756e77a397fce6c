import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useCallback, useEffect, useState } from "react";
import { visible } from "../../lib/format";
import { boundText, METRIC_NAMES } from "../../lib/metrics";
import { LABEL_KINDS, type LabelKind, type Labels } from "../../lib/probe_table";
import {
  DECISIONS,
  type DecisionFilter,
  METRICS,
  type Metric,
  OUTCOMES,
  type OutcomeFilter,
  SHOWN,
  type Shown,
} from "../../lib/probes";
import { parseRange, rangeWords } from "../../lib/ranges";
import { columnsText, type ProbesSearch, parseColumns } from "../../lib/search";
import page from "../../ui/page.module.css";
import { TextFilter } from "../../ui/text_filter";
import styles from "./probes.module.css";

const route = getRouteApi("/runs/$id/probes");

const OUTCOME_WORDS: Record<OutcomeFilter, string> = {
  passed: "passed",
  failed: "failed",
  unjudged: "without a result",
  errored: "errored",
};
const LABEL_WORDS: Record<LabelKind, string> = { tag: "Tag", check: "Failed assertion", error: "Error" };
export const SHOWN_NAMES: Record<Shown, string> = {
  ...METRIC_NAMES,
  target: "Target",
  result: "Result",
  decision: "Decision",
  tags: "Tags",
  checks: "Failed assertions",
  error: "Error",
};

interface Props {
  names: readonly string[];
  metric: Metric;
  labels: Labels;
  hasDecisions: boolean;
}

export function Toolbar({ names, metric, labels, hasDecisions }: Props) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const seek = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q }), replace: true }),
    [navigate],
  );
  const set = (changes: Partial<ProbesSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...changes }), resetScroll: false });
  return (
    <search className={page.filters}>
      <Choice
        label="Distribution of"
        value={metric}
        choices={METRICS.map((each) => [each, METRIC_NAMES[each].toLowerCase()])}
        change={(value) => set({ by: value as Metric })}
      />
      {names.length > 1 && (
        <Choice
          label="Target"
          value={search.column === undefined ? "" : String(search.column)}
          choices={[
            ["", "all"],
            ...names.map((name, position) => [String(position), visible(name)] as const),
          ]}
          change={(value) => set({ column: value === "" ? undefined : Number(value) })}
        />
      )}
      <Choice
        label="Result"
        value={search.outcome ?? ""}
        choices={[["", "all"], ...OUTCOMES.map((each) => [each, OUTCOME_WORDS[each]] as const)]}
        change={(value) => set({ outcome: (value || undefined) as OutcomeFilter | undefined })}
      />
      {(hasDecisions || search.decision !== undefined) && (
        <Choice
          label="Decision"
          value={search.decision ?? ""}
          choices={[["", "all"], ...DECISIONS.map((each) => [each, each] as const)]}
          change={(value) => set({ decision: (value || undefined) as DecisionFilter | undefined })}
        />
      )}
      {LABEL_KINDS.map((kind) => {
        const chosen = search[kind];
        const known =
          chosen === undefined || labels[kind].includes(chosen) ? labels[kind] : [chosen, ...labels[kind]];
        return (
          known.length > 0 && (
            <Choice
              key={kind}
              label={LABEL_WORDS[kind]}
              value={chosen ?? ""}
              choices={[["", "all"], ...known.toSorted().map((name) => [name, visible(name)] as const)]}
              change={(value) => set({ [kind]: value || undefined })}
            />
          )
        );
      })}
      <TextFilter label="Scenario contains" value={search.q} change={seek} />
      <MessageWords value={search.said} change={(said) => set({ said })} />
      <ColumnChooser
        choices={SHOWN.filter((each) => hasDecisions || each !== "decision")}
        columns={parseColumns(search.cols)}
        change={(columns) => set({ cols: columnsText(columns) })}
      />
      {METRICS.map((each) => {
        const range = parseRange(search[each]);
        return (
          range && (
            <button key={each} type="button" onClick={() => set({ [each]: undefined })}>
              {METRIC_NAMES[each].toLowerCase()} {rangeWords(range, (value) => boundText(each, value))}{" "}
              <span aria-hidden="true">✕</span>
              <span className="hidden-text">, remove this filter</span>
            </button>
          )
        );
      })}
    </search>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  choices: readonly (readonly [string, ReactNode])[];
  change: (value: string) => void;
}

function Choice({ label, value, choices, change }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => change(event.target.value)}>
        {choices.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface WordsProps {
  value: string | undefined;
  change: (words: string | undefined) => void;
}

/** Begins a search only on request: the API reads all messages for it. */
function MessageWords({ value, change }: WordsProps) {
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change(text.trim() || undefined);
  };
  return (
    <form className={styles.words} onSubmit={submit}>
      <label>
        Messages contain
        <input type="search" value={text} maxLength={200} onChange={(event) => setText(event.target.value)} />
      </label>
      <button type="submit" disabled={text.trim() === (value ?? "")}>
        Search messages
      </button>
    </form>
  );
}

interface ColumnsProps {
  choices: readonly Shown[];
  columns: readonly Shown[];
  change: (columns: readonly Shown[]) => void;
}

function ColumnChooser({ choices, columns, change }: ColumnsProps) {
  const toggle = (column: Shown) =>
    change(columns.includes(column) ? columns.filter((each) => each !== column) : [...columns, column]);
  return (
    <details className={styles.chooser}>
      <summary>Columns</summary>
      <fieldset>
        <legend className="hidden-text">Columns of the list</legend>
        {choices.map((each) => (
          <label key={each}>
            <input type="checkbox" checked={columns.includes(each)} onChange={() => toggle(each)} />
            {SHOWN_NAMES[each]}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
