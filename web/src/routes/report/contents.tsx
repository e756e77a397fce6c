import type { Report, ReportContent, Run } from "../../api/types";

import {
  counted,
  formatCount,
  formatDecimal,
  formatInterval,
  formatMs,
  formatShare,
  formatUsd,
  visible,
} from "../../lib/format";
import { unpricedText } from "../../lib/report";
import { causeOf, helpOfUnscored } from "../../lib/unscored";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { FailureModes } from "./failure_modes";
import styles from "./report.module.css";
import { Summary } from "./summary";
import {
  Agreement,
  Assertions,
  Breakdowns,
  Differences,
  FailedScenarios,
  JudgeAccuracy,
  Targets,
} from "./tables";

interface Props {
  run: Run;
  report: string;
  content: ReportContent;
  texts: Report["texts"];
}

export function Contents({ run, report, content, texts }: Props) {
  return (
    <>
      <Cards content={content} />
      {texts === null && (
        <p className={page.note}>
          Quotations and summary are gone: a quoted conversation was deleted or has expired. The figures
          remain.
        </p>
      )}
      {texts?.summary && <Summary run={run} report={report} summary={texts.summary} />}
      {texts && texts.summary === null && (
        <Section title="Summary">
          <p className={page.note}>No model was asked for a summary.</p>
        </Section>
      )}
      <FailureModes id={run.id} content={content} excerpts={texts?.excerpts ?? []} />
      <Targets content={content} />
      <JudgeAccuracy content={content} />
      <Breakdowns content={content} />
      <Differences content={content} />
      <FailedScenarios content={content} />
      <Assertions content={content} />
      <Agreement content={content} />
      <Errors content={content} />
      <NotScored content={content} />
      {content.notes.length > 0 && (
        <Section title="Notes">
          <ul className={styles.notes}>
            {content.notes.map((note) => (
              <li key={note}>{visible(note)}</li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Cards({ content }: { content: ReportContent }) {
  const { overall, cost } = content;
  const { winRate } = overall;
  const bounds = formatInterval(winRate.interval95, formatShare);
  return (
    <Section title="Outcome">
      <dl className={page.cards}>
        <Card name="Pass rate" value={formatShare(winRate.share)}>
          {bounds && <small>{bounds}, 95% interval</small>}
          <small>
            {formatCount(winRate.successes)} of {formatCount(winRate.trials)} judged
          </small>
        </Card>
        <Card name="Completed" value={formatCount(overall.completed)}>
          <small>of {counted(content.probes, "conversation")}</small>
          {overall.errored > 0 && <small>{counted(overall.errored, "infrastructure error")}</small>}
          {overall.unscored > 0 && <small>{formatCount(overall.unscored)} could not be scored</small>}
        </Card>
        <Card name="Turns per conversation" value={formatDecimal(overall.turns?.mean)}>
          {overall.turns && <small>95% have at most {formatCount(overall.turns.p95)}</small>}
        </Card>
        <Card name="Time, 95th percentile" value={formatMs(overall.durationMs?.p95)}>
          <small>median {formatMs(overall.durationMs?.p50)}</small>
        </Card>
        <Card name="Tokens" value={formatCount(overall.totalInputTokens + overall.totalOutputTokens)}>
          <small>
            {formatCount(overall.totalInputTokens)} in, {formatCount(overall.totalOutputTokens)} out
          </small>
        </Card>
        <Card name="Cost" value={formatUsd(cost.usd)}>
          <Estimated cost={cost} />
        </Card>
      </dl>
    </Section>
  );
}

function Card({ name, value, children }: { name: string; value: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{value}</strong>
        {children}
      </dd>
    </div>
  );
}

function Estimated({ cost }: { cost: ReportContent["cost"] }) {
  const { estimatedUsd: estimate, budget, unpriced = [] } = cost;
  return (
    <>
      {cost.usd === null && <small>{formatUsd(cost.pricedUsd)} of it with a known price</small>}
      {estimate ? (
        <small>
          estimated {formatUsd(estimate.expected)} ({formatUsd(estimate.low)} to {formatUsd(estimate.high)})
        </small>
      ) : (
        <small>without an estimate</small>
      )}
      {budget && (
        <small>
          {formatUsd(budget.spentUsd + budget.uncertainUsd)} of a budget of {formatUsd(budget.maxBudgetUsd)}
        </small>
      )}
      {unpriced.length > 0 && (
        <small>Not included, as there is no price: {visible(unpricedText(unpriced))}</small>
      )}
    </>
  );
}

function NotScored({ content }: { content: ReportContent }) {
  const reasons = content.unscoredReasons;
  if (reasons.length === 0) return null;
  return (
    <Section title="Not scored">
      <p className={page.note}>A check could not be computed: these count neither as passed nor as failed.</p>
      <ScrollRegion label="Not scored">
        <table>
          <thead>
            <tr>
              <th scope="col">Cause</th>
              <FigureHeader>Conversations</FigureHeader>
              <th scope="col">What to do</th>
            </tr>
          </thead>
          <tbody>
            {reasons.map((each) => (
              <tr key={causeOf(each)}>
                <th scope="row">
                  <code>{visible(causeOf(each))}</code>
                </th>
                <td className="figure">{formatCount(each.probes)}</td>
                <td>{helpOfUnscored(each.code)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}

function Errors({ content }: { content: ReportContent }) {
  if (content.errors.length === 0) return null;
  return (
    <Section title="Infrastructure errors">
      <p className={page.note}>They are not the model's failures, and no result counts them.</p>
      <ScrollRegion label="Infrastructure errors">
        <table>
          <thead>
            <tr>
              <th scope="col">Cause</th>
              <FigureHeader>Conversations</FigureHeader>
            </tr>
          </thead>
          <tbody>
            {content.errors.map((each) => (
              <tr key={each.code}>
                <th scope="row">
                  <code>{visible(each.code)}</code>
                </th>
                <td className="figure">{formatCount(each.probes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}
