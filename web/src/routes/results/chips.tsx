import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { labelSetsQuery } from "../../api/labels";
import { isTerminal } from "../../api/queries";
import { useCanWrite } from "../../api/role";
import type { Run } from "../../api/types";
import { counted, formatCount, visible } from "../../lib/format";
import { Outcome, type ProbeTable } from "../../lib/probe_table";
import { chooseProbes, type OutcomeFilter, type ProbeChoice } from "../../lib/probes";
import { MODES, type Mode, rowsOf } from "../../lib/result_rows";
import type { ResultsSearch } from "../../lib/search";
import styles from "./answers.module.css";

interface Props {
  run: Run;
  table: ProbeTable;
  version: number;
  /** It has no filter by outcome. */
  choice: ProbeChoice;
  search: ResultsSearch;
  change: (changes: Partial<ResultsSearch>) => void;
}

const OUTCOME_CHIPS: readonly (readonly [OutcomeFilter, number, string])[] = [
  ["passed", Outcome.PASSED, "Passed"],
  ["failed", Outcome.FAILED, "Failed"],
  ["errored", Outcome.ERRORED, "Errored"],
  ["unjudged", Outcome.UNJUDGED, "Not scored"],
];
const MODE_NAMES: Record<Mode, string> = { differ: "Targets differ", unstable: "Repeats differ" };

/** Offers the filters that are used most, with the numbers of conversations or rows that each leaves. */
export function Chips({ run, table, version, choice, search, change }: Props) {
  const canWrite = useCanWrite();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const counts = useMemo(() => {
    const found = chooseProbes(table, choice);
    const byOutcome = new Map<number, number>();
    for (const index of found) {
      const outcome = table.outcome[index] ?? 0;
      byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + 1);
    }
    const byMode = new Map(MODES.map((mode) => [mode, rowsOf(table, found, mode, undefined).length]));
    return { all: found.length, byOutcome, byMode };
  }, [table, version, choice]);
  const isAll = search.outcome === undefined && search.mode === undefined;
  const modes = MODES.filter((mode) => (mode === "differ" ? table.columns > 1 : table.repeats > 1));
  return (
    <fieldset className={styles.chips}>
      <legend className="hidden-text">Show</legend>
      <Chip isOn={isAll} count={counts.all} choose={() => change({ outcome: undefined, mode: undefined })}>
        All
      </Chip>
      {OUTCOME_CHIPS.map(([filter, code, name]) => {
        const count = counts.byOutcome.get(code) ?? 0;
        const isOn = search.outcome === filter;
        if (count === 0 && !isOn) return null;
        return (
          <Chip
            key={filter}
            kind={filter}
            isOn={isOn}
            count={count}
            choose={() => change({ outcome: isOn ? undefined : filter })}
          >
            {name}
          </Chip>
        );
      })}
      {modes.map((mode) => {
        const isOn = search.mode === mode;
        return (
          <Chip
            key={mode}
            isOn={isOn}
            count={counts.byMode.get(mode) ?? 0}
            choose={() => change({ mode: isOn ? undefined : mode })}
          >
            {MODE_NAMES[mode]}
          </Chip>
        );
      })}
      {isTerminal(run.status) && canWrite && <ToReview run={run} />}
    </fieldset>
  );
}

interface ChipProps {
  isOn: boolean;
  count: number;
  kind?: OutcomeFilter;
  choose: () => void;
  children: string;
}

function Chip({ isOn, count, kind, choose, children }: ChipProps) {
  return (
    <button type="button" aria-pressed={isOn} data-kind={kind} onClick={choose}>
      {children} <span className={styles.count}>{formatCount(count)}</span>
    </button>
  );
}

/** Leads to the label sets with transcripts that nobody has labelled; there the judge's verdict is hidden. */
function ToReview({ run }: { run: Run }) {
  const query = useQuery(labelSetsQuery(run.id));
  const open = (query.data ?? []).filter(
    ({ count, progress }) => progress.labelled + progress.skipped < count,
  );
  return open.map((set) => {
    const left = set.count - set.progress.labelled - set.progress.skipped;
    return (
      <Link
        key={set.id}
        to="/runs/$id"
        params={{ id: run.id }}
        search={{ label: set.id }}
        title={`${counted(left, "transcript")} to label by ${visible(set.criterion)}`}
      >
        To review <span className={styles.count}>{formatCount(left)}</span>
      </Link>
    );
  });
}
