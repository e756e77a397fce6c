import type { ReportContent, ReportFigures } from "../../api/reports";
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
import { IntervalMark } from "../../ui/bars";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";

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

interface ShareProps {
  trials: number;
  share: number | null;
  interval: readonly number[] | null;
  what: string;
}

function Share({ share, interval, what, trials }: ShareProps) {
  if (share === null) return <span className={page.note}>{UNKNOWN}</span>;
  const bounds = formatInterval(interval, formatShare);
  return (
    <span className={page.estimate}>
      <IntervalMark
        value={share}
        interval={interval}
        min={0}
        max={1}
        label={`${what} ${formatShare(share)}, 95% interval ${bounds}`}
      />
      <span>
        <strong>{formatShare(share)}</strong> {bounds && `(${bounds})`}{" "}
        <small className={page.note}>n = {formatCount(trials)}</small>
      </span>
    </span>
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
