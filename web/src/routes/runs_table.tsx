import { Link } from "@tanstack/react-router";
import type { Run } from "../api/types";
import { formatAgo, formatCount, formatMs, formatUsd, UNKNOWN, visible } from "../lib/format";
import { passRates } from "../lib/pass_rates";
import { nameOf } from "../lib/run_order";
import type { RunColumn } from "../lib/search";
import { targetNames } from "../lib/targets";
import { OutcomeBar, ProgressBar, RateDots } from "../ui/bars";
import { FigureHeader } from "../ui/figure_header";
import { useNow } from "../ui/now";
import { Status } from "../ui/status";
import { RunActions } from "./run_actions/run_actions";
import styles from "./runs.module.css";

const MAX_SELECTED = 2;

export const COLUMN_WORDS: Record<RunColumn, string> = { duration: "Duration", starter: "Started by" };

const COLUMN_TEXTS: Record<RunColumn, (run: Run) => string> = {
  duration: (run) => formatMs(run.durationMs),
  starter: ({ startedBy: { type, name, id } }) => visible(name ?? id ?? type),
};

interface TableProps {
  runs: readonly Run[];
  columns: readonly RunColumn[];
  selected: readonly Run[];
  toggle: (run: Run) => void;
}

export function RunsTable({ runs, columns, selected, toggle }: TableProps) {
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
          <th scope="col">Passed</th>
          <FigureHeader>Cost</FigureHeader>
          {columns.map((each) => (
            <th key={each} scope="col">
              {COLUMN_WORDS[each]}
            </th>
          ))}
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
              <div className={styles.title}>
                <Link to="/runs/$id" params={{ id: run.id }}>
                  {visible(nameOf(run))}
                </Link>
                <small>
                  {run.name ? `${visible(run.definitionName)}, ` : ""}version {run.definitionVersion}
                </small>
                <span className={styles.tags}>
                  {run.tags.map((tag) => (
                    <Link key={tag} to="/runs" search={{ tag }}>
                      {visible(tag)}
                    </Link>
                  ))}
                </span>
              </div>
            </th>
            <td>
              <Status status={run.status} />
            </td>
            <td className={styles.models} title={visible(targetNames(run.config.targets))}>
              {visible(targetNames(run.config.targets))}
            </td>
            <td className={styles.progress}>
              <Progress run={run} />
            </td>
            <td className={styles.rate}>
              <Rate run={run} />
            </td>
            <td className={`figure ${styles.cost}`}>{formatUsd(run.spend.costUsd)}</td>
            {columns.map((each) => (
              <td key={each} className={styles.further}>
                <span className={styles.narrow}>{COLUMN_WORDS[each]}: </span>
                {COLUMN_TEXTS[each](run)}
              </td>
            ))}
            <td className={`figure ${styles.created}`} title={new Date(run.createdAt).toLocaleString()}>
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

interface SelectProps extends Omit<TableProps, "runs" | "columns"> {
  run: Run;
}

function Select({ run, selected, toggle }: SelectProps) {
  const isSelected = selected.some((each) => each.id === run.id);
  return (
    <input
      type="checkbox"
      aria-label={`Select ${visible(nameOf(run))} to compare`}
      checked={isSelected}
      disabled={!isSelected && selected.length === MAX_SELECTED}
      onChange={() => toggle(run)}
    />
  );
}

/** Shows what came of the conversations of a run that is over; until then, how many are completed. */
function Progress({ run }: { run: Run }) {
  const { total, completed, failed } = run.progress;
  return (
    <div className={styles.outcomes}>
      {run.rates ? (
        <OutcomeBar total={total} outcomes={run.rates} />
      ) : (
        <ProgressBar total={total} completed={completed} errored={failed} />
      )}
      <small aria-hidden="true">
        {completed === total ? formatCount(total) : `${formatCount(completed)} of ${formatCount(total)}`}
        {failed > 0 && <span className={styles.errored}>, {formatCount(failed)} errored</span>}
      </small>
    </div>
  );
}

function Rate({ run }: { run: Run }) {
  const rates = run.rates && passRates(run.rates);
  if (!rates) return <span className="hidden-text">{UNKNOWN}</span>;
  return (
    <span className={styles.rates}>
      <RateDots rates={rates} />
      {rates.text}
    </span>
  );
}
