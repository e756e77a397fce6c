import { useMemo, useRef } from "react";
import { Histogram } from "../../charts/histogram";
import { counted, formatCount, visible } from "../../lib/format";
import { type Bins, binsOfRange, distributions, makeBins, rangeOfBins } from "../../lib/histogram";
import { boundText, METRIC_NAMES, metricText } from "../../lib/metrics";
import type { ProbeTable } from "../../lib/probe_table";
import { chooseProbes, METRICS, type Metric, type ProbeChoice, valuesOf } from "../../lib/probes";
import { type Range, rangeWords } from "../../lib/ranges";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { useWidth } from "../../ui/width";
import styles from "./answers.module.css";

interface Props {
  table: ProbeTable;
  version: number;
  metric: Metric;
  choice: ProbeChoice;
  names: readonly string[];
  fileName: string;
  change: (range: Range | undefined) => void;
  choose: (metric: Metric) => void;
}

const MOST_ROWS = 8;
const MAX_WIDTH = 1_100;

/**
 * Shows how a figure is distributed among the conversations that the other filters leave, and which of its values are
 * listed.
 */
export function DistributionSection(props: Props) {
  const { table, version, metric } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const bins = useMemo(() => makeBins(valuesOf(table, metric), metric), [table, version, metric]);
  return (
    <>
      <label className={styles.of}>
        Distribution of{" "}
        <select value={metric} onChange={(event) => props.choose(event.target.value as Metric)}>
          {METRICS.map((each) => (
            <option key={each} value={each}>
              {METRIC_NAMES[each].toLowerCase()}
            </option>
          ))}
        </select>
      </label>
      {bins === null ? <p className={page.note}>{MISSING[metric]}</p> : <Drawn {...props} bins={bins} />}
    </>
  );
}

const MISSING: Record<Metric, string> = {
  score: "No conversation has a score.",
  time: "No conversation has a time yet.",
  cost: "No cost is known: a price is missing, or no conversation has ended.",
  tokens: "No number of tokens is known.",
  turns: "No conversation has turns yet.",
};

function Drawn({ table, version, metric, choice, names, fileName, change, bins }: Props & { bins: Bins }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = Math.min(MAX_WIDTH, useWidth(frame));
  const { columns: shown, ranges } = choice;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the table has changed
  const found = useMemo(() => {
    const others = chooseProbes(table, { ...choice, ranges: { ...choice.ranges, [metric]: undefined } });
    const columnOf = (index: number) => (table.cell[index] ?? 0) % table.columns;
    return distributions(bins, valuesOf(table, metric), others, columnOf, table.columns);
  }, [table, version, bins, metric, choice]);
  const range = ranges[metric];
  const selected = range ? binsOfRange(bins, range) : null;
  const select = (first: number, last: number) => change(rangeOfBins(bins, first, last));
  const columns = shown ? [...shown] : names.map((_, position) => position);
  const rows = columns.slice(0, MOST_ROWS).flatMap((position) => {
    const each = found[position];
    if (each === undefined) return [];
    const name = names[position] ?? "";
    const median = `median ${metricText(metric, each.median)}`;
    const text = each.known > 0 ? `n = ${formatCount(each.known)}, ${median}` : "n = 0";
    const spread = `90% from ${metricText(metric, each.p5)} to ${metricText(metric, each.p95)}`;
    const words = `${visible(name)}: ${text}${each.known > 0 ? `, ${spread}` : ""}`;
    return [{ name, counts: each.counts, text, words }];
  });
  const format = (value: number) => boundText(metric, value);
  const binText = (bin: number) => rangeWords(rangeOfBins(bins, bin, bin) ?? {}, format);
  const what = METRIC_NAMES[metric];
  const widthText = format(bins.width);
  const isMore = bins.isOpen ? `; the last bar has all from ${format(bins.starts.at(-1) ?? 0)}` : "";
  return (
    <div ref={frame}>
      <Histogram
        title={`${what} of conversations by target`}
        description={rows.map((row) => row.words).join(". ")}
        fileName={`${fileName}-${metric}`}
        rows={rows}
        starts={bins.starts}
        isOpen={bins.isOpen}
        binText={bins.starts.length > 1 ? binText : () => "all"}
        format={format}
        axis={`${what}, ${width < 500 ? "" : "conversations "}per ${widthText}${width < 700 ? "" : isMore}`}
        width={width}
        selected={selected}
        select={select}
        table={
          <table>
            <thead>
              <tr>
                <th scope="col">{what}</th>
                {rows.map((row) => (
                  <FigureHeader key={row.name}>{visible(row.name)}</FigureHeader>
                ))}
              </tr>
            </thead>
            <tbody>
              {bins.starts.map((start, bin) => (
                <tr key={start}>
                  <th scope="row">{bins.starts.length > 1 ? binText(bin) : format(start)}</th>
                  {rows.map((row) => (
                    <td key={row.name} className="figure">
                      {formatCount(row.counts[bin] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        }
      />
      {columns.length > MOST_ROWS && (
        <p className={page.note}>
          {MOST_ROWS} of {counted(columns.length, "target")} are drawn; the filter by target shows another.
        </p>
      )}
      {bins.starts.length > 1 && (
        <Bounds bins={bins} what={what} selected={selected} select={select} format={format} />
      )}
    </div>
  );
}

interface BoundsProps {
  bins: Bins;
  what: string;
  selected: readonly [number, number] | null;
  select: (first: number, last: number) => void;
  format: (value: number) => string;
}

/** Offers the same choice as dragging, for the keyboard and for fingers. */
function Bounds({ bins, what, selected, select, format }: BoundsProps) {
  const last = bins.starts.length - 1;
  const [from, to] = selected ?? [0, last];
  const least = from === 0 ? "none" : `from ${format(bins.starts[from] ?? 0)}`;
  const most = to === last ? "none" : `below ${format(bins.starts[to + 1] ?? 0)}`;
  return (
    <fieldset className={styles.bounds}>
      <legend>{what} of the listed conversations</legend>
      <Bound
        label="Lower bound"
        text={least}
        last={last}
        value={from}
        change={(bin) => select(Math.min(bin, to), to)}
      />
      <Bound
        label="Upper bound"
        text={most}
        last={last}
        value={to}
        change={(bin) => select(from, Math.max(bin, from))}
      />
    </fieldset>
  );
}

interface BoundProps {
  label: string;
  text: string;
  last: number;
  value: number;
  change: (bin: number) => void;
}

function Bound({ label, text, last, value, change }: BoundProps) {
  return (
    <label>
      <span>
        {label}
        <span aria-hidden="true">: {text}</span>
      </span>
      <input
        type="range"
        min={0}
        max={last}
        value={value}
        aria-valuetext={text}
        onChange={(event) => change(Number(event.target.value))}
      />
    </label>
  );
}
