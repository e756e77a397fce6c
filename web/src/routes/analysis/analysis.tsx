import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { analysisQuery } from "../../api/analyses";
import { ApiError } from "../../api/client";
import type { Figures } from "../../api/types";
import { formatDecimal, visible } from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Empty, Failure, Loading } from "../../ui/states";
import { AnalyzeButton } from "./again";
import { Agreement } from "./agreement";
import styles from "./analysis.module.css";
import { BreakdownSection } from "./breakdown";
import { DeepAnalysisSection } from "./deep";
import { RankingSection } from "./ranking";
import { ScenarioLink } from "./scenario_link";

const SHOWN_CONTESTED = 10;
const route = getRouteApi("/runs/$id");

export function AnalysisPage() {
  const { id } = route.useParams();
  const query = useQuery(analysisQuery(id));
  if (query.isPending) return <Loading what="the analysis" />;
  if (query.error instanceof ApiError && query.error.status === 404) {
    return (
      <Empty title="No analysis yet">
        <p>A run is analyzed when it completes, and again on request.</p>
        <AnalyzeButton id={id} label="Analyze now" />
      </Empty>
    );
  }
  if (query.data === undefined) {
    return <Failure error={query.error} what="Analysis" retry={() => void query.refetch()} />;
  }
  const { figures, failure, isStale, staleReason } = query.data;
  if (!figures) {
    return (
      <Empty title={failure ? "The analysis failed" : "No analysis yet"}>
        <p>
          {failure
            ? visible(`${failure.where}: ${failure.why}`)
            : "A run is analyzed when it completes, and again on request."}
        </p>
        <AnalyzeButton id={id} label="Analyze again" />
      </Empty>
    );
  }
  return (
    <>
      {isStale && (
        <div className={page.bar}>
          <p role="status" className={styles.note}>
            Out of date:{" "}
            {staleReason === "inputs" ? "outcomes have changed since" : "another build of Cupel made it"}.
          </p>
          <AnalyzeButton id={id} label="Analyze again" />
        </div>
      )}
      <div className={page.sections}>
        <RankingSection figures={figures} />
        <Findings figures={figures} />
        <BreakdownSection id={id} />
        <Agreement figures={figures} />
        <Contested figures={figures} />
        <DeepAnalysisSection id={id} />
      </div>
    </>
  );
}

function Findings({ figures }: { figures: Figures }) {
  return (
    <Section title="Findings">
      {figures.insights.length === 0 && <p className={styles.note}>The figures support no finding.</p>}
      <ul className={styles.list}>
        {figures.insights.map((insight) => (
          <li key={insight.text}>{visible(insight.text)}</li>
        ))}
      </ul>
      {figures.cautions.length > 0 && (
        <>
          <h3>Cautions</h3>
          <ul className={styles.list}>
            {figures.cautions.map((caution) => (
              <li key={`${caution.code} ${caution.text}`}>{visible(caution.text)}</li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

function Contested({ figures }: { figures: Figures }) {
  const contested = figures.contested.filter((each) => each.variance > 0).slice(0, SHOWN_CONTESTED);
  if (contested.length === 0) return null;
  return (
    <Section title="Contested scenarios">
      <p className={styles.note}>Where the targets differ most.</p>
      <ScrollRegion label="contested scenarios">
        <table className={styles.contested}>
          <thead>
            <tr>
              <th scope="col">Scenario</th>
              <FigureHeader>Variance</FigureHeader>
              <FigureHeader>Range</FigureHeader>
            </tr>
          </thead>
          <tbody>
            {contested.map((each) => (
              <tr key={each.scenarioId}>
                <th scope="row">
                  <ScenarioLink id={each.scenarioId} name={each.scenarioName} />
                </th>
                <td className="figure">{formatDecimal(each.variance)}</td>
                <td className="figure">{formatDecimal(each.range)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}
