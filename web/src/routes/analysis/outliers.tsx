import type { DeepFigures } from "../../api/types";

import { formatDecimal, formatP, formatSigned, visible } from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import styles from "./analysis.module.css";
import { ScenarioLink } from "./scenario_link";

const INDICATORS = {
  distance: "Mahalanobis distance",
  forest: "isolation forest",
  agreement: "agreement without it",
} as const;
const SHOWN_SCENARIOS = 10;

export function OutlierTargets({ figures }: { figures: DeepFigures }) {
  const found = figures.outlierTargets;
  if (!found) return null;
  return (
    <Section title="Outlying targets">
      <ScrollRegion label="outlying targets">
        <table>
          <thead>
            <tr>
              <th scope="col">Target</th>
              <th scope="col">Outlier</th>
              <FigureHeader>Distance</FigureHeader>
              <FigureHeader>p, adjusted</FigureHeader>
              <FigureHeader>Isolation</FigureHeader>
              <FigureHeader>α without it</FigureHeader>
            </tr>
          </thead>
          <tbody>
            {found.targets.map((each) => (
              <tr key={each.column}>
                <th scope="row">{visible(figures.columns[each.column]?.name ?? "")}</th>
                <td>
                  {each.isOutlier ? "yes" : "no"}
                  {each.indicators.length > 0 &&
                    `, by ${each.indicators.map((one) => INDICATORS[one]).join(" and ")}`}
                </td>
                <td className="figure">{each.distance === null ? "" : formatDecimal(each.distance)}</td>
                <td className="figure">
                  {each.distanceAdjustedP === null ? "" : formatP(each.distanceAdjustedP)}
                </td>
                <td className="figure">{each.forestScore === null ? "" : formatDecimal(each.forestScore)}</td>
                <td className="figure">
                  {each.agreementGain === null ? "" : formatSigned(each.agreementGain)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {found.omitted.map((each) => (
        <p key={each.indicator} className={styles.note}>
          Not used: {INDICATORS[each.indicator]}, {visible(each.reason)}.
        </p>
      ))}
    </Section>
  );
}

export function OutlierScenarios({ figures }: { figures: DeepFigures }) {
  const found = figures.outlierScenarios;
  if (!found || found.scenarios.length === 0) return null;
  return (
    <Section title="Outlying scenarios">
      <ScrollRegion label="outlying scenarios">
        <table className={styles.contested}>
          <thead>
            <tr>
              <th scope="col">Scenario</th>
              <FigureHeader>Isolation</FigureHeader>
              {found.columns.map((column) => (
                <FigureHeader key={column}>{visible(figures.columns[column]?.name ?? "")}</FigureHeader>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.scenarios.slice(0, SHOWN_SCENARIOS).map((each) => (
              <tr key={each.scenarioId}>
                <th scope="row">
                  <ScenarioLink id={each.scenarioId} name={each.scenarioName} />
                </th>
                <td className="figure">{formatDecimal(each.score)}</td>
                {each.means.map((mean, position) => (
                  <td key={found.columns[position]} className="figure">
                    {formatDecimal(mean)}
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
