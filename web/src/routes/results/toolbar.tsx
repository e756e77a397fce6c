import { useInfiniteQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { runsQuery } from "../../api/queries";
import { useCaseTexts } from "../../api/tables";
import type { Run } from "../../api/types";
import { valueNames } from "../../lib/cases";
import { formatAgo, visible } from "../../lib/format";
import { boundText, METRIC_NAMES } from "../../lib/metrics";
import { LABEL_KINDS, type LabelKind, type ProbeTable } from "../../lib/probe_table";
import { DECISIONS, type DecisionFilter, METRICS, SHOWN, type Shown } from "../../lib/probes";
import { parseRange, rangeWords } from "../../lib/ranges";
import {
  columnsText,
  LINES,
  type Lines,
  parseColumns,
  parseValues,
  parseWhere,
  type ResultsSearch,
  valuesText,
} from "../../lib/search";
import { useNow } from "../../ui/now";
import page from "../../ui/page.module.css";
import { TextFilter } from "../../ui/text_filter";
import styles from "./answers.module.css";

const LABEL_WORDS: Record<LabelKind, string> = { tag: "Tag", check: "Failed check", error: "Error" };
const SHOWN_NAMES: Record<Shown, string> = {
  expected: "Expected",
  checks: "Checks",
  reason: "Reason of the first failure",
  figures: "Time, tokens and cost",
};
const LINE_NAMES: Record<Lines, string> = { "2": "2 lines", "6": "6 lines", all: "whole answers" };
const ORDERS: readonly (readonly [string, string])[] = [
  ["", "as in the run"],
  ["lowest", "lowest pass rate first"],
  ["spread", "largest difference of targets first"],
  ...bothWays("input", "input"),
  ...METRICS.flatMap((metric) => {
    const name = METRIC_NAMES[metric].toLowerCase();
    return [[`-${metric}`, `${name}, highest first`] as const, [metric, `${name}, lowest first`] as const];
  }),
];
function bothWays(order: string, name: string): (readonly [string, string])[] {
  return [
    [order, `${name}, ascending`],
    [`-${order}`, `${name}, descending`],
  ];
}

/** The variables of these cases are offered as columns. */
const FIRST_CASES = [0];

interface Props {
  run: Run;
  table: ProbeTable;
  version: number;
  names: readonly string[];
  search: ResultsSearch;
  change: (changes: Partial<ResultsSearch>, replace?: boolean) => void;
}

export function Toolbar({ run, table, version, names, search, change }: Props) {
  const seek = useCallback((q: string | undefined) => change({ q }, true), [change]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const hasDecisions = useMemo(() => table.decision.some((code) => code !== 0), [table, version]);
  const texts = useCaseTexts(run.id, FIRST_CASES);
  const known = useMemo(() => valueNames(texts.values()), [texts]);
  const values = parseValues(search.vars);
  const { group } = search;
  const groups = group === undefined || known.includes(group) ? known : [group, ...known];
  const orders = known.flatMap((each) => bothWays(`var.${each}`, visible(each)));
  const label = (kind: LabelKind) => {
    const chosen = search[kind];
    const all = table.labels[kind];
    const offered = chosen === undefined || all.includes(chosen) ? all : [chosen, ...all];
    return (
      offered.length > 0 && (
        <Choice
          key={kind}
          label={LABEL_WORDS[kind]}
          value={chosen ?? ""}
          choices={[["", "all"], ...offered.toSorted().map((name) => [name, visible(name)] as const)]}
          change={(value) => change({ [kind]: value || undefined })}
        />
      )
    );
  };
  return (
    <search className={page.filters}>
      <TextFilter label="Input or variable contains" value={search.q} change={seek} />
      {names.length > 1 && (
        <Choice
          label="Target"
          value={search.column === undefined ? "" : String(search.column)}
          choices={[
            ["", "all"],
            ...names.map((name, position) => [String(position), visible(name)] as const),
          ]}
          change={(value) => change({ column: value === "" ? undefined : Number(value), target: undefined })}
        />
      )}
      {label("check")}
      <Choice
        label="Order"
        value={search.order ?? ""}
        choices={[...ORDERS, ...orders]}
        change={(value) => change({ order: (value || undefined) as ResultsSearch["order"] })}
      />
      {groups.length > 0 && (
        <Choice
          label="Group by"
          value={search.group ?? ""}
          choices={[["", "nothing"], ...groups.map((each) => [each, visible(each)] as const)]}
          change={(value) => change({ group: value || undefined })}
        />
      )}
      <Choice
        label="Answers"
        value={search.lines ?? "2"}
        choices={LINES.map((each) => [each, LINE_NAMES[each]])}
        change={(value) => change({ lines: value === "2" ? undefined : (value as ResultsSearch["lines"]) })}
      />
      <Chooser name="Columns">
        <Boxes
          legend="Columns of the table"
          choices={SHOWN.map((each) => [each, SHOWN_NAMES[each]])}
          chosen={parseColumns(search.cols)}
          change={(columns) => change({ cols: columnsText(columns as readonly Shown[]) })}
        />
        {known.length > 0 && (
          <Boxes
            legend="Variables"
            isNamed
            choices={known.map((each) => [each, visible(each)])}
            chosen={values}
            change={(chosen) => change({ vars: valuesText(chosen) })}
          />
        )}
      </Chooser>
      <Chooser name="More filters">
        <div className={page.filters}>
          <MessageWords value={search.said} change={(said) => change({ said })} />
          {(hasDecisions || search.decision !== undefined) && (
            <Choice
              label="Decision"
              value={search.decision ?? ""}
              choices={[["", "all"], ...DECISIONS.map((each) => [each, each] as const)]}
              change={(value) => change({ decision: (value || undefined) as DecisionFilter | undefined })}
            />
          )}
          {LABEL_KINDS.filter((kind) => kind !== "check").map(label)}
          <ChangedSince run={run} value={search.since} change={(since) => change({ since })} />
        </div>
      </Chooser>
      <Removable search={search} change={change} />
    </search>
  );
}

/** Names the filters that have no control in sight, each with a button that removes it. */
function Removable({ search, change }: Pick<Props, "search" | "change">) {
  const where = parseWhere(search.where);
  const hidden: readonly (readonly [keyof ResultsSearch, string | undefined])[] = [
    ["where", where && `${where[0]} = ${where[1]}`],
    ["target", search.target],
    ["said", search.said && `messages contain ${search.said}`],
    ["decision", search.decision && `decision ${search.decision}`],
    ["tag", search.tag && `tag ${search.tag}`],
    ["error", search.error && `error ${search.error}`],
    ["since", search.since && `changed since ${search.since}`],
    ...METRICS.map((metric) => {
      const range = parseRange(search[metric]);
      const words = range && rangeWords(range, (value) => boundText(metric, value));
      return [metric, words && `${METRIC_NAMES[metric].toLowerCase()} ${words}`] as const;
    }),
  ];
  return hidden.map(
    ([name, words]) =>
      words && (
        <button key={name} type="button" onClick={() => change({ [name]: undefined })}>
          {visible(words)} <span aria-hidden="true">✕</span>
          <span className="hidden-text">, remove this filter</span>
        </button>
      ),
  );
}

/** Offers earlier runs of the same definition. They are read when the filters are opened. */
function ChangedSince({
  run,
  value,
  change,
}: {
  run: Run;
  value: string | undefined;
  change: (id?: string) => void;
}) {
  const [isWanted, want] = useState(value !== undefined);
  const now = useNow();
  const query = useInfiniteQuery({ ...runsQuery({ definition: run.definitionId }), enabled: isWanted });
  const runs = query.data?.pages.flatMap((each) => each.items) ?? [];
  const others = runs.filter((each) => each.id !== run.id && each.progress.completed > 0);
  const known = value === undefined || others.some((each) => each.id === value);
  return (
    <label>
      Changed since
      <select
        value={value ?? ""}
        onFocus={() => want(true)}
        onChange={(event) => change(event.target.value || undefined)}
      >
        <option value="">no other run</option>
        {!known && <option value={value}>{value}</option>}
        {others.map((each) => (
          <option key={each.id} value={each.id}>
            {visible(each.name ?? each.definitionName)}, {formatAgo(each.createdAt, now)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Chooser({ name, children }: { name: string; children: ReactNode }) {
  return (
    <details className={styles.chooser}>
      <summary>{name}</summary>
      <div>{children}</div>
    </details>
  );
}

interface BoxesProps {
  legend: string;
  isNamed?: boolean;
  choices: readonly (readonly [string, string])[];
  chosen: readonly string[];
  change: (chosen: readonly string[]) => void;
}

function Boxes({ legend, isNamed = false, choices, chosen, change }: BoxesProps) {
  const toggle = (each: string) =>
    change(chosen.includes(each) ? chosen.filter((other) => other !== each) : [...chosen, each]);
  return (
    <fieldset>
      <legend className={isNamed ? undefined : "hidden-text"}>{legend}</legend>
      {choices.map(([each, name]) => (
        <label key={each}>
          <input type="checkbox" checked={chosen.includes(each)} onChange={() => toggle(each)} />
          {name}
        </label>
      ))}
    </fieldset>
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
