import { useQuery } from "@tanstack/react-query";
import { calibrationQuery, type Judged } from "../../api/labels";
import { resultsQuery } from "../../api/queries";
import { useCanWrite } from "../../api/role";
import type { Calibration, ColumnCalibration, LabelledShare, Run } from "../../api/types";
import { type RateGroup, RatesPlot } from "../../charts/rates";
import { rateGroups, ratesText } from "../../lib/calibration";
import { columnName } from "../../lib/estimates";
import {
  counted,
  formatCount,
  formatDecimal,
  formatInterval,
  formatShare,
  visible,
  withInterval,
} from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import styles from "../labelling/labels.module.css";
import { Disagreements } from "./disagreements";
import { DrawButton } from "./label_sets";

/** Shows how far the judge agrees with the labels, and the pass rates that are corrected for its errors. */
export function CalibrationSection({ run, judged }: { run: Run; judged: Judged }) {
  const query = useQuery(calibrationQuery(run.id, judged));
  if (query.isPending) return <Loading what="the calibration" />;
  if (query.data === undefined)
    return (
      <Section title="Calibration">
        <Failure error={query.error} what="The calibration" retry={() => void query.refetch()} />
      </Section>
    );
  const found = query.data;
  if (found.codes.length > 0) return <Codes run={run} found={found} judged={judged} />;
  if (found.columns.length === 0) return <Uncalibrated run={run} found={found} />;
  return (
    <>
      <Section title="Calibration">
        <p className={page.note}>
          {found.judgeModel === null ? "Checks without a judge" : `Judge ${visible(found.judgeModel)}`},
          criterion {visible(found.criterion)}.{!found.isDrawn && ` ${NOT_DRAWN}`}
        </p>
        <Agreement columns={found.columns} />
        <Notes found={found} />
      </Section>
      <Section title="Pass rates">
        <Rates run={run} found={found} />
      </Section>
      <Section title="What judge and people say">
        <div className={styles.tables}>
          {found.columns.map((column) => (
            <Confusion key={keyOf(column)} column={column} />
          ))}
        </div>
      </Section>
      <People people={found.people} />
      <Disagreements run={run} found={found} judged={judged} />
    </>
  );
}

/** Shows the codes of judge and people, and the means that are corrected for the judge's errors. */
function Codes({ run, found, judged }: { run: Run; found: Calibration; judged: Judged }) {
  return (
    <>
      <Section title="Calibration">
        <p className={page.note}>Codes of the judge and of people.{!found.isDrawn && ` ${NOT_DRAWN}`}</p>
        <ScrollRegion label="codes">
          <table>
            <thead>
              <tr>
                <th scope="col">Target</th>
                <FigureHeader>Labels</FigureHeader>
                <FigureHeader>Same code</FigureHeader>
                <FigureHeader>κ, quadratic weights</FigureHeader>
                <FigureHeader>Mean by the judge</FigureHeader>
                <FigureHeader>Corrected mean</FigureHeader>
                <FigureHeader>Labels alone</FigureHeader>
              </tr>
            </thead>
            <tbody>
              {found.codes.map((codes) => (
                <tr key={`${codes.targetId} ${codes.promptId}`}>
                  <th scope="row" className={page.name}>
                    {visible(columnName(codes))}
                  </th>
                  <td className="figure">{formatCount(codes.transcripts)}</td>
                  <Figure text={share(codes.agreement)} />
                  <td className="figure">{formatDecimal(codes.kappa)}</td>
                  <td className="figure">{formatDecimal(codes.judgeMean)}</td>
                  <Figure text={codes.message ?? withInterval(codes.mean, codes.interval95, formatDecimal)} />
                  <Figure
                    text={withInterval(codes.labelsOnlyMean, codes.labelsOnlyInterval95, formatDecimal)}
                  />
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
        <Notes found={found} />
      </Section>
      <People people={found.people} />
      <Disagreements run={run} found={found} judged={judged} />
    </>
  );
}

const NOT_DRAWN =
  "The labelled transcripts were not drawn at random by a label set: they may not stand for the others.";

function Uncalibrated({ run, found }: { run: Run; found: Calibration }) {
  const canWrite = useCanWrite();
  if (found.judgeModel === null) return null;
  return (
    <Section title="Calibration">
      <p className={page.note}>
        <strong>Uncalibrated judge.</strong> Nobody knows yet how often {visible(found.judgeModel)} is wrong:
        no transcript of this run has a label for “{visible(found.criterion)}” that was given without seeing
        its verdict.
      </p>
      {canWrite && <DrawButton run={run} />}
    </Section>
  );
}

function keyOf({ targetId, promptId }: ColumnCalibration): string {
  return `${targetId} ${promptId}`;
}

function share(value: LabelledShare | null): string {
  return value === null ? formatShare(null) : withInterval(value.share, value.interval95, formatShare);
}

function Agreement({ columns }: { columns: readonly ColumnCalibration[] }) {
  return (
    <ScrollRegion label="agreement">
      <table>
        <thead>
          <tr>
            <th scope="col">Target</th>
            <FigureHeader>Labels</FigureHeader>
            <FigureHeader>Agreement</FigureHeader>
            <FigureHeader>Constant judge</FigureHeader>
            <FigureHeader>κ</FigureHeader>
            <FigureHeader>Sensitivity</FigureHeader>
            <FigureHeader>Specificity</FigureHeader>
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => {
            const { agreement } = column;
            return (
              <tr key={keyOf(column)}>
                <th scope="row" className={page.name}>
                  {visible(columnName(column))}
                  <small>{leftOut(column)}</small>
                </th>
                <td className="figure">{formatCount(agreement.labels)}</td>
                <Figure text={share(agreement.agreement)} />
                <td className="figure">{formatShare(agreement.constantAccuracy)}</td>
                <Figure text={withInterval(agreement.kappa, agreement.kappaInterval95, formatDecimal)} />
                <Figure text={share(agreement.sensitivity)} />
                <Figure text={share(agreement.specificity)} />
              </tr>
            );
          })}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

/** Shows an interval below its figure. */
function Figure({ text }: { text: string }) {
  const [value, interval] = text.split(" (");
  return (
    <td className="figure">
      {value}
      {interval && <small className={page.line}>{interval.replace(")", "")}</small>}
    </td>
  );
}

function leftOut({ agreement }: ColumnCalibration): string {
  const parts = [
    agreement.skipped > 0 && `${counted(agreement.skipped, "transcript")} skipped`,
    agreement.undecided > 0 && `${formatCount(agreement.undecided)} undecided by the judge`,
  ];
  return parts.filter(Boolean).join(", ");
}

function Notes({ found }: { found: Calibration }) {
  const notes = [
    found.conflicts.length > 0 &&
      `People disagree evenly on ${counted(found.conflicts.length, "transcript")}, which a further person decides.`,
    found.ignored > 0 &&
      `${counted(found.ignored, "labelled transcript")} that no label set drew count nowhere.`,
    found.unblind > 0 && `${counted(found.unblind, "label")} made with a visible verdict count nowhere.`,
  ].filter((each) => each !== false);
  return (
    <>
      <p className={`${page.note} ${page.below}`}>
        The constant judge always says the same; a judge that agrees no more often is useless. Sensitivity is
        the share of people's passes that the judge lets pass, specificity that of their failures that it
        fails. Below each figure is its 95% interval.
      </p>
      {notes.map((each) => (
        <p key={each} className={page.note}>
          {each}
        </p>
      ))}
    </>
  );
}

function Rates({ run, found }: { run: Run; found: Calibration }) {
  const isOwn = found.criterion === "result" && found.rescoreId === null;
  const results = useQuery({ ...resultsQuery(run.id), enabled: isOwn });
  const groups = rateGroups(found, (isOwn && results.data?.columns) || []);
  const reasons = found.columns.flatMap((column) => {
    const reason = column.corrected.message;
    return reason === null ? [] : [`${columnName(column)} is not corrected: ${reason}.`];
  });
  return (
    <>
      <RatesPlot
        title="Pass rate by the judge, corrected for its errors, and by the labels alone"
        description={ratesText(groups)}
        fileName="corrected-pass-rates"
        groups={groups}
        format={(value) => formatShare(value).replace(".0%", "%")}
        axis="pass rate, with 95% intervals"
        table={<RatesTable groups={groups} />}
      />
      {reasons.map((each) => (
        <p key={each} className={page.note}>
          {visible(each)}
        </p>
      ))}
    </>
  );
}

function RatesTable({ groups }: { groups: readonly RateGroup[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Target</th>
          <th scope="col">Pass rate</th>
          <FigureHeader>Share</FigureHeader>
          <FigureHeader>95% interval</FigureHeader>
        </tr>
      </thead>
      <tbody>
        {groups.flatMap((group) =>
          group.rates.map((rate) => (
            <tr key={`${group.name} ${rate.name}`}>
              <th scope="row">{group.name}</th>
              <td>{rate.name}</td>
              <td className="figure">{formatShare(rate.value)}</td>
              <td className="figure">{formatInterval(rate.interval, formatShare)}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}

/** Counts the labels of a target by what judge and people say. */
function Confusion({ column }: { column: ColumnCalibration }) {
  const { bothPassed, onlyJudgePassed, onlyLabelPassed, bothFailed } = column.agreement.counts;
  return (
    <table>
      <caption>{visible(columnName(column))}</caption>
      <thead>
        <tr>
          <td />
          <FigureHeader>People pass</FigureHeader>
          <FigureHeader>People fail</FigureHeader>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">Judge passes</th>
          <td className="figure">{formatCount(bothPassed)}</td>
          <td className="figure">{formatCount(onlyJudgePassed)}</td>
        </tr>
        <tr>
          <th scope="row">Judge fails</th>
          <td className="figure">{formatCount(onlyLabelPassed)}</td>
          <td className="figure">{formatCount(bothFailed)}</td>
        </tr>
      </tbody>
    </table>
  );
}

function People({ people }: { people: Calibration["people"] }) {
  return (
    <Section title="People">
      {people.ceiling === null ? (
        <p className={page.note}>
          Nobody has labelled a transcript of another person yet, so it is not known how far people agree.
        </p>
      ) : (
        <p className={page.measured}>
          People agree with each other in <strong>{share(people.ceiling)}</strong> of{" "}
          {counted(people.transcripts, "transcript")} that several have labelled. No judge can be expected to
          agree with them more than that.
        </p>
      )}
      {people.pairs.length > 0 && (
        <ScrollRegion label="pairs of people">
          <table>
            <thead>
              <tr>
                <th scope="col">Two people</th>
                <FigureHeader>Transcripts</FigureHeader>
                <FigureHeader>Agreement</FigureHeader>
                <FigureHeader>κ</FigureHeader>
              </tr>
            </thead>
            <tbody>
              {people.pairs.map((pair) => (
                <tr key={`${pair.first} ${pair.second}`}>
                  <th scope="row" className={page.name}>
                    {visible(`${pair.first} and ${pair.second}`)}
                  </th>
                  <td className="figure">{formatCount(pair.transcripts)}</td>
                  <td className="figure">{formatShare(pair.agreement)}</td>
                  <Figure text={withInterval(pair.kappa, pair.kappaInterval95, formatDecimal)} />
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </Section>
  );
}
