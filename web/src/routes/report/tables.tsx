import type { ReportContent, ReportFigures } from "../../api/reports";
import { formatDifference, formatDifferences, formatP } from "../../lib/comparison";
import {
  formatCount,
  formatDecimal,
  formatInterval,
  formatMs,
  formatShare,
  formatUsd,
  UNKNOWN,
  visible,
} from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Share } from "../../ui/share";
import { ScenarioLink } from "../analysis/scenario_link";

function cost(figures: ReportFigures): number | null {
  if (figures.costs.some((each) => each.usd === null)) return null;
  return figures.costs.reduce((sum, each) => sum + (each.usd ?? 0), 0);
}

export function Targets({ content }: { content: ReportContent }) {
  return (
    <Section title="By target">
      <ScrollRegion label="By target">
        <table>
          <thead>
            <tr>
              <th scope="col">Target</th>
              <th scope="col">Pass rate (95% interval)</th>
              <FigureHeader>Completed</FigureHeader>
              <FigureHeader>Errors</FigureHeader>
              <FigureHeader>Turns</FigureHeader>
              <FigureHeader>Time p50</FigureHeader>
              <FigureHeader>Time p95</FigureHeader>
              <FigureHeader>Tokens</FigureHeader>
              <FigureHeader>Cost</FigureHeader>
            </tr>
          </thead>
          <tbody>
            {content.columns.map(({ name, figures }) => (
              <tr key={name}>
                <th scope="row" className={page.name}>
                  {visible(name)}
                </th>
                <td>
                  <Share
                    share={figures.winRate.share}
                    interval={figures.winRate.interval95}
                    what="Pass rate"
                    trials={figures.winRate.trials}
                  />
                </td>
                <td className="figure">{formatCount(figures.completed)}</td>
                <td className="figure">{formatCount(figures.errored)}</td>
                <td className="figure">{figures.turns ? figures.turns.mean.toFixed(1) : UNKNOWN}</td>
                <td className="figure">{formatMs(figures.durationMs?.p50)}</td>
                <td className="figure">{formatMs(figures.durationMs?.p95)}</td>
                <td className="figure">
                  {formatCount(figures.totalInputTokens + figures.totalOutputTokens)}
                </td>
                <td className="figure">{formatUsd(cost(figures))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}

export function Assertions({ content }: { content: ReportContent }) {
  if (content.judgeStats.length === 0) return null;
  return (
    <Section title="Assertions">
      <ScrollRegion label="Assertions">
        <table>
          <thead>
            <tr>
              <th scope="col">Assertion</th>
              <th scope="col">Pass rate (95% interval)</th>
              <FigureHeader>Passed</FigureHeader>
              <FigureHeader>Failed</FigureHeader>
              <FigureHeader>Not computed</FigureHeader>
            </tr>
          </thead>
          <tbody>
            {content.judgeStats.map((each) => (
              <tr key={each.name}>
                <th scope="row" className={page.name}>
                  <code>{visible(each.name)}</code>
                </th>
                <td>
                  <Share
                    share={each.passRate}
                    interval={each.interval95}
                    what="Pass rate"
                    trials={each.passed + each.failed}
                  />
                </td>
                <td className="figure">{formatCount(each.passed)}</td>
                <td className="figure">{formatCount(each.failed)}</td>
                <td className="figure">{formatCount(each.errors)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}

/** How far the run's graders agree with rescores and with people. */
export function Agreement({ content }: { content: ReportContent }) {
  if (content.graderAgreement.length === 0) return null;
  return (
    <Section title="Agreement between graders">
      <ScrollRegion label="Agreement between graders">
        <table>
          <thead>
            <tr>
              <th scope="col">Graders</th>
              <FigureHeader>Conversations</FigureHeader>
              <FigureHeader>Equal verdicts</FigureHeader>
              <th scope="col">Cohen's κ (95% interval)</th>
              <FigureHeader>Krippendorff's α</FigureHeader>
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}

/** The pass rates by what the cases have in common, a table for each. */
export function Breakdowns({ content }: { content: ReportContent }) {
  return content.breakdowns?.map(({ by, groups }) => (
    <Section key={by} title={`Pass rate by ${visible(by)}`}>
      <ScrollRegion label={`Pass rate by ${visible(by)}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{visible(by)}</th>
              <FigureHeader>Scenarios</FigureHeader>
              {content.columns.map(({ name }) => (
                <th key={name} scope="col">
                  {visible(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={JSON.stringify(group.value)}>
                <th scope="row" className={page.name}>
                  {group.value === null ? UNKNOWN : visible(group.value)}
                </th>
                <td className="figure">{formatCount(group.scenarios)}</td>
                {group.passRates.map((rate, number) => (
                  <td key={content.columns[number]?.name}>
                    <Share
                      share={rate.share}
                      interval={rate.interval95}
                      what="Pass rate"
                      trials={rate.trials}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  ));
}

/** Which targets differ, pair by pair. */
export function Differences({ content }: { content: ReportContent }) {
  const differences = content.differences ?? [];
  if (differences.length === 0) return null;
  return (
    <Section title="Differences between targets">
      <ScrollRegion label="Differences between targets">
        <table>
          <thead>
            <tr>
              <th scope="col">Targets</th>
              <FigureHeader>Scenarios</FigureHeader>
              <FigureHeader>Difference</FigureHeader>
              <th scope="col">95% interval</th>
              <FigureHeader>Adjusted p</FigureHeader>
            </tr>
          </thead>
          <tbody>
            {differences.map((each) => (
              <tr key={`${each.first} ${each.second}`}>
                <th scope="row" className={page.name}>
                  {visible(each.first)} less {visible(each.second)}
                </th>
                <td className="figure">{formatCount(each.scenarios)}</td>
                <td className="figure">{formatDifference(each.metric, each.difference)}</td>
                <td>{formatDifferences(each.metric, each.interval95)}</td>
                <td className="figure">{formatP(each.adjustedP)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}

/** Of each failed scenario, how many answers of each target passed. */
export function FailedScenarios({ content }: { content: ReportContent }) {
  const failed = content.failedScenarios ?? [];
  if (failed.length === 0) return null;
  return (
    <Section title="Scenarios that were failed">
      <ScrollRegion label="Scenarios that were failed">
        <table>
          <thead>
            <tr>
              <th scope="col">Passed of judged</th>
              {content.columns.map(({ name }) => (
                <FigureHeader key={name}>{visible(name)}</FigureHeader>
              ))}
            </tr>
          </thead>
          <tbody>
            {failed.map((each) => (
              <tr key={each.scenarioId}>
                <th scope="row" className={page.name}>
                  <ScenarioLink id={each.scenarioId} name={each.scenarioName} />
                </th>
                {each.cells.map((cell, number) => (
                  <td key={content.columns[number]?.name} className="figure">
                    {cell.judged === 0
                      ? UNKNOWN
                      : `${formatCount(cell.passed)} of ${formatCount(cell.judged)}`}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}
