import type { ReactNode } from "react";
import type { ReportContent, ReportFigures } from "../../api/types";

import { formatDifference, formatDifferences } from "../../lib/comparison";
import {
  formatCount,
  formatDecimal,
  formatInterval,
  formatMs,
  formatP,
  formatShare,
  formatUsd,
  UNKNOWN,
  visible,
} from "../../lib/format";
import { accuracyText } from "../../lib/judge_accuracy";
import { changeText } from "../../lib/usage_ratios";
import { Share } from "../../ui/estimated";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { ScenarioLink } from "../analysis/scenario_link";

function cost(figures: ReportFigures): number | null {
  if (figures.costs.some((each) => each.usd === null)) return null;
  return figures.costs.reduce((sum, each) => sum + (each.usd ?? 0), 0);
}

interface TableProps {
  title: string;
  head: ReactNode;
  children: ReactNode;
}

function TableSection({ title, head, children }: TableProps) {
  return (
    <Section title={title}>
      <ScrollRegion label={title}>
        <table>
          <thead>
            <tr>{head}</tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}

export function Targets({ content }: { content: ReportContent }) {
  return (
    <TableSection
      title="By target"
      head={
        <>
          <th scope="col">Target</th>
          <th scope="col">Pass rate (95% interval)</th>
          <FigureHeader>Completed</FigureHeader>
          <FigureHeader>Errors</FigureHeader>
          <FigureHeader>Turns</FigureHeader>
          <FigureHeader>Time p50</FigureHeader>
          <FigureHeader>Time p95</FigureHeader>
          <FigureHeader>Tokens</FigureHeader>
          <FigureHeader>Cost</FigureHeader>
        </>
      }
    >
      {content.columns.map(({ name, figures }) => (
        <tr key={name}>
          <th scope="row" className={page.name}>
            {visible(name)}
          </th>
          <td>
            <Share
              value={figures.winRate.share}
              interval={figures.winRate.interval95}
              what="Pass rate"
              n={figures.winRate.trials}
            />
          </td>
          <td className="figure">{formatCount(figures.completed)}</td>
          <td className="figure">{formatCount(figures.errored)}</td>
          <td className="figure">{formatDecimal(figures.turns?.mean)}</td>
          <td className="figure">{formatMs(figures.durationMs?.p50)}</td>
          <td className="figure">{formatMs(figures.durationMs?.p95)}</td>
          <td className="figure">{formatCount(figures.totalInputTokens + figures.totalOutputTokens)}</td>
          <td className="figure">{formatUsd(cost(figures))}</td>
        </tr>
      ))}
    </TableSection>
  );
}

export function JudgeAccuracy({ content }: { content: ReportContent }) {
  const labelled = content.columns.flatMap(({ name, judgeAccuracy, correctedPassRate }) =>
    judgeAccuracy && correctedPassRate ? [{ name, judgeAccuracy, correctedPassRate }] : [],
  );
  if (labelled.length === 0) return null;
  return (
    <TableSection
      title="Accuracy of the judge"
      head={
        <>
          <th scope="col">Target</th>
          <th scope="col">Corrected pass rate (95% interval)</th>
          <th scope="col">Agreement with people</th>
        </>
      }
    >
      {labelled.map(({ name, judgeAccuracy, correctedPassRate }) => (
        <tr key={name}>
          <th scope="row" className={page.name}>
            {visible(name)}
          </th>
          <td>
            <Share
              value={correctedPassRate.rate}
              interval={correctedPassRate.interval95}
              what="Corrected pass rate"
              n={judgeAccuracy.labels}
            />
          </td>
          <td>{accuracyText(judgeAccuracy)}</td>
        </tr>
      ))}
    </TableSection>
  );
}

export function Assertions({ content }: { content: ReportContent }) {
  if (content.judgeStats.length === 0) return null;
  return (
    <TableSection
      title="Assertions"
      head={
        <>
          <th scope="col">Assertion</th>
          <th scope="col">Pass rate (95% interval)</th>
          <FigureHeader>Passed</FigureHeader>
          <FigureHeader>Failed</FigureHeader>
          <FigureHeader>Not computed</FigureHeader>
        </>
      }
    >
      {content.judgeStats.map((each) => (
        <tr key={each.name}>
          <th scope="row" className={page.name}>
            <code>{visible(each.name)}</code>
          </th>
          <td>
            <Share
              value={each.passRate}
              interval={each.interval95}
              what="Pass rate"
              n={each.passed + each.failed}
            />
          </td>
          <td className="figure">{formatCount(each.passed)}</td>
          <td className="figure">{formatCount(each.failed)}</td>
          <td className="figure">{formatCount(each.errors)}</td>
        </tr>
      ))}
    </TableSection>
  );
}

/** Shows how far the run's graders agree with rescores and with people. */
export function Agreement({ content }: { content: ReportContent }) {
  if (content.graderAgreement.length === 0) return null;
  return (
    <TableSection
      title="Agreement between graders"
      head={
        <>
          <th scope="col">Graders</th>
          <FigureHeader>Conversations</FigureHeader>
          <FigureHeader>Equal verdicts</FigureHeader>
          <th scope="col">Cohen's κ (95% interval)</th>
          <FigureHeader>Krippendorff's α</FigureHeader>
        </>
      }
    >
      {content.graderAgreement.map((each) => (
        <tr key={`${each.first} ${each.second}`}>
          <th scope="row" className={page.name}>
            {visible(each.first)} and {visible(each.second)}
            {each.note && <small>{visible(each.note)}</small>}
          </th>
          <td className="figure">{formatCount(each.conversations)}</td>
          <td className="figure">{formatShare(each.agreement)}</td>
          <td>
            {formatDecimal(each.kappa)}{" "}
            {each.kappaInterval95 && `(${formatInterval(each.kappaInterval95, formatDecimal)})`}
          </td>
          <td className="figure">{formatDecimal(each.alpha)}</td>
        </tr>
      ))}
    </TableSection>
  );
}

/** Shows the pass rates by properties of the cases, a table for each. */
export function Breakdowns({ content }: { content: ReportContent }) {
  return content.breakdowns.map(({ by, groups }) => (
    <TableSection
      key={by}
      title={`Pass rate by ${visible(by)}`}
      head={
        <>
          <th scope="col">{visible(by)}</th>
          <FigureHeader>Scenarios</FigureHeader>
          {content.columns.map(({ name }) => (
            <th key={name} scope="col">
              {visible(name)}
            </th>
          ))}
        </>
      }
    >
      {groups.map((group) => (
        <tr key={JSON.stringify(group.value)}>
          <th scope="row" className={page.name}>
            {group.value === null ? UNKNOWN : visible(group.value)}
          </th>
          <td className="figure">{formatCount(group.scenarios)}</td>
          {group.passRates.map((rate, number) => (
            <td key={content.columns[number]?.name}>
              <Share value={rate.share} interval={rate.interval95} what="Pass rate" n={rate.trials} />
            </td>
          ))}
        </tr>
      ))}
    </TableSection>
  ));
}

export function Differences({ content }: { content: ReportContent }) {
  const differences = content.differences;
  if (differences.length === 0) return null;
  return (
    <TableSection
      title="Differences between targets"
      head={
        <>
          <th scope="col">Targets</th>
          <FigureHeader>Scenarios</FigureHeader>
          <FigureHeader>Difference</FigureHeader>
          <th scope="col">95% interval</th>
          <FigureHeader>Adjusted p</FigureHeader>
          <th scope="col">Cost</th>
          <th scope="col">Time of calls</th>
        </>
      }
    >
      {differences.map((each) => (
        <tr key={`${each.first} ${each.second}`}>
          <th scope="row" className={page.name}>
            {visible(each.first)} less {visible(each.second)}
          </th>
          <td className="figure">{formatCount(each.scenarios)}</td>
          <td className="figure">{formatDifference(each.metric, each.difference)}</td>
          <td>{formatDifferences(each.metric, each.interval95)}</td>
          <td className="figure">{formatP(each.adjustedP)}</td>
          <td>{changeText(each.costRatio, each.scenarios)}</td>
          <td>{changeText(each.timeRatio, each.scenarios)}</td>
        </tr>
      ))}
    </TableSection>
  );
}

/** Shows for each failed scenario how many answers of each target passed. */
export function FailedScenarios({ content }: { content: ReportContent }) {
  const failed = content.failedScenarios;
  if (failed.length === 0) return null;
  return (
    <TableSection
      title="Failed scenarios"
      head={
        <>
          <th scope="col">Passed of judged</th>
          {content.columns.map(({ name }) => (
            <FigureHeader key={name}>{visible(name)}</FigureHeader>
          ))}
        </>
      }
    >
      {failed.map((each) => (
        <tr key={each.scenarioId}>
          <th scope="row" className={page.name}>
            <ScenarioLink id={each.scenarioId} name={each.scenarioName} />
          </th>
          {each.cells.map((cell, number) => (
            <td key={content.columns[number]?.name} className="figure">
              {cell.judged === 0 ? UNKNOWN : `${formatCount(cell.passed)} of ${formatCount(cell.judged)}`}
            </td>
          ))}
        </tr>
      ))}
    </TableSection>
  );
}
