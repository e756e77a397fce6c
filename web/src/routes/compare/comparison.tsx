import { getRouteApi } from "@tanstack/react-router";
import type { ComparisonFigures, Comparison as Stored } from "../../api/types";

import { ForestPlot } from "../../charts/forest";
import {
  allRows,
  formatDifference,
  formatDifferences,
  formatLevel,
  METRICS,
  type Metric,
  VERDICTS,
} from "../../lib/comparison";
import { columnName } from "../../lib/estimates";
import {
  counted,
  formatConfidence,
  formatCount,
  formatP,
  formatShare,
  UNKNOWN,
  visible,
} from "../../lib/format";
import type { CompareSearch } from "../../lib/search";
import { FigureHeader } from "../../ui/figure_header";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Changes } from "./changes";
import styles from "./compare.module.css";
import { Operations } from "./operations";
import { ScenarioPair } from "./pair";
import { Ratios } from "./ratios";
import { ScenariosPlot } from "./scenarios_plot";
import { WhatChanged } from "./what_changed";

const route = getRouteApi("/compare");

interface Props {
  comparison: Stored;
  figures: ComparisonFigures;
  again: (() => void) | undefined;
}

export function Comparison({ comparison, figures, again }: Props) {
  const { row: chosen = 0, s: scenario } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (changes: CompareSearch) =>
    void navigate({ search: (old) => ({ ...old, ...changes }), resetScroll: false });
  const open = (s: string) => set({ s, repeat: undefined });
  // Scenarios that were matched by their dimensions have other ids in either run.
  const hasPairs = figures.matchedBy !== "DIMENSIONS";
  const rows = allRows(figures);
  const pairs = rows.filter((each) => !each.isOverall);
  const row = figures.rows[chosen];
  const verdict = comparison.verdict ?? rows[0]?.row.verdict;
  return (
    <>
      {comparison.isStale && (
        <p role="status" className={styles.note}>
          Out of date: the results of a run have changed.{" "}
          {again && (
            <button type="button" onClick={again}>
              Compare again
            </button>
          )}
        </p>
      )}
      <p className={styles.sentence}>
        {verdict && <Verdict verdict={verdict} />}
        {verdict && ": "}
        {visible([comparison.sentence ?? rows[0]?.row.sentence ?? "", ...notesOfOnly(rows)].join(" "))}
      </p>
      <Section title={`Difference of the ${METRICS[figures.metric]}, by target`}>
        <p className={styles.note}>
          {counted(figures.commonScenarios, "scenario")} in common
          {figures.matchedBy === "DIMENSIONS" && ", matched by their dimensions"}
          {figures.onlyBaseline > 0 && `, ${formatCount(figures.onlyBaseline)} only in the baseline`}
          {figures.onlyComparison > 0 && `, ${formatCount(figures.onlyComparison)} only in the other run`}.
          Each scenario counts once. Intervals have {formatConfidence(figures.alpha)}; differences below{" "}
          {formatDifference(figures.metric, figures.margin).replace("+", "")} do not matter.
        </p>
        <Differences figures={figures} />
        <CorrectedDifferences figures={figures} />
        <Unpaired figures={figures} />
        <Cautions figures={figures} />
      </Section>
      <WhatChanged changed={figures.whatChanged} />
      {row && (
        <Section title="Scenarios and costs of one pair">
          <label className={styles.pair}>
            Targets
            <select
              value={chosen}
              onChange={(event) => set({ row: Number(event.target.value) || undefined, s: undefined })}
            >
              {pairs.map(({ name }, number) => (
                <option key={name} value={number}>
                  {visible(name)}
                </option>
              ))}
            </select>
          </label>
          <ScenariosPlot
            comparison={comparison}
            metric={figures.metric}
            row={chosen}
            open={hasPairs ? open : undefined}
          />
          <Changes
            comparison={comparison}
            metric={figures.metric}
            row={chosen}
            open={hasPairs ? open : undefined}
          />
          {scenario !== undefined && hasPairs && (
            <ScenarioPair comparison={comparison} row={row} scenario={scenario} />
          )}
          <Ratios row={row} />
          <Operations operations={row.operations} />
        </Section>
      )}
    </>
  );
}

type Word = keyof typeof VERDICTS;

function Verdict({ verdict }: { verdict: Word }) {
  const [sign, word] = VERDICTS[verdict];
  return (
    <strong className={styles.verdict} data-verdict={verdict}>
      <span aria-hidden="true">{sign}</span> {word}
    </strong>
  );
}

function Differences({ figures }: { figures: ComparisonFigures }) {
  const rows = allRows(figures);
  const drawn = rows.flatMap(({ name, row, isOverall }) =>
    row.difference === null
      ? []
      : [
          {
            name: visible(name),
            value: row.difference,
            interval: pairOf(row.interval),
            text: withInterval(figures.metric, row.difference, row.interval),
            isOverall,
          },
        ],
  );
  const table = <DifferenceTable figures={figures} />;
  if (drawn.length === 0) return table;
  const description = rows
    .map(({ name, row }) => `${name}: ${VERDICTS[row.verdict][1]}. ${row.sentence}`)
    .join(" ");
  return (
    <>
      <ForestPlot
        title={`Other run minus baseline: ${METRICS[figures.metric]}`}
        description={visible(description)}
        fileName="differences"
        rows={drawn}
        margin={figures.margin}
        axis="lower than the baseline ← → higher; grey: differences that do not matter"
        format={(value) => formatDifference(figures.metric, value).replace(" pp", "")}
        table={table}
      />
      <ScrollRegion label="verdicts">
        <table>
          <thead>
            <tr>
              <th scope="col">Targets</th>
              <th scope="col">Verdict</th>
              <th scope="col">In words</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, row }) => (
              <tr key={name}>
                <th scope="row" className={styles.rowName}>
                  {visible(name)}
                </th>
                <td>
                  <Verdict verdict={row.verdict} />
                </td>
                <td className={styles.words}>{visible([row.sentence, ...row.notes].join(" "))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </>
  );
}

/** Shows what is left of each difference without the judges' errors, where people have labelled both sides. */
function CorrectedDifferences({ figures }: { figures: ComparisonFigures }) {
  const { metric } = figures;
  return allRows(figures).flatMap(({ name, row: { correctedDifference: corrected } }) =>
    corrected ? (
      <p key={name} className={styles.note}>
        {visible(name)}: corrected for the judge's errors by people's labels,{" "}
        {formatShare(corrected.baseline)} becomes {formatShare(corrected.comparison)}:{" "}
        {withInterval(metric, corrected.difference, corrected.interval)}.
      </p>
    ) : (
      []
    ),
  );
}

function withInterval(metric: Metric, value: number, interval: readonly number[] | null): string {
  const difference = formatDifference(metric, value);
  return interval === null
    ? `${difference}, no interval`
    : `${difference} (${formatDifferences(metric, interval)})`;
}

function pairOf(interval: readonly number[] | null): readonly [number, number] | null {
  const [low, high] = interval ?? [];
  return low === undefined || high === undefined ? null : [low, high];
}

function DifferenceTable({ figures }: { figures: ComparisonFigures }) {
  const { metric } = figures;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Targets</th>
          {[
            "Scenarios",
            "Baseline",
            "Other run",
            "Difference",
            "Interval",
            "p",
            "p, adjusted",
            "Detectable",
          ].map((each) => (
            <FigureHeader key={each}>{each}</FigureHeader>
          ))}
        </tr>
      </thead>
      <tbody>
        {allRows(figures).map(({ name, row }) => (
          <tr key={name}>
            <th scope="row" className={styles.rowName}>
              {visible(name)}
            </th>
            <td className="figure">{formatCount(row.scenarios)}</td>
            <td className="figure">{formatLevel(metric, row.baselineMean)}</td>
            <td className="figure">{formatLevel(metric, row.comparisonMean)}</td>
            <td className="figure">{formatDifference(metric, row.difference)}</td>
            <td className="figure">{formatDifferences(metric, row.interval)}</td>
            <td className="figure">{formatP(row.p)}</td>
            <td className="figure">{row.adjustedP === null ? "" : formatP(row.adjustedP)}</td>
            <td className="figure">
              {row.minimumDetectableEffect === null
                ? UNKNOWN
                : formatDifference(metric, row.minimumDetectableEffect).replace("+", "")}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Returns the notes of a single row; several rows have theirs in a table. */
function notesOfOnly(rows: ReturnType<typeof allRows>): readonly string[] {
  return rows.length === 1 ? (rows[0]?.row.notes ?? []) : [];
}

function Unpaired({ figures }: { figures: ComparisonFigures }) {
  const names = (columns: ComparisonFigures["unpairedBaseline"]) =>
    visible(columns.map(columnName).join("; "));
  return (
    <>
      {figures.unpairedBaseline.length > 0 && (
        <p className={styles.note}>Only in the baseline: {names(figures.unpairedBaseline)}.</p>
      )}
      {figures.unpairedComparison.length > 0 && (
        <p className={styles.note}>Only in the other run: {names(figures.unpairedComparison)}.</p>
      )}
    </>
  );
}

function Cautions({ figures }: { figures: ComparisonFigures }) {
  const messages = [
    ...new Set(allRows(figures).flatMap(({ row }) => row.cautions.map((each) => each.message))),
  ];
  if (messages.length === 0) return null;
  return (
    <>
      <h3 className={styles.heading}>Cautions</h3>
      <ul className={styles.list}>
        {messages.map((each) => (
          <li key={each}>{visible(each)}</li>
        ))}
      </ul>
    </>
  );
}
