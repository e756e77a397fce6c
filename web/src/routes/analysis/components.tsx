import { getRouteApi, type LinkProps } from "@tanstack/react-router";
import type { DeepFigures } from "../../api/types";

import { ScatterPlot } from "../../charts/scatter";
import { formatDecimal, formatShare, formatSigned, visible } from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import styles from "./analysis.module.css";
import { ScenarioLink } from "./scenario_link";

const route = getRouteApi("/runs/$id");
type Components = NonNullable<DeepFigures["components"]>;
type Component = Components["components"][number];
const SHOWN_LOADINGS = 8;

/** Draws targets along the two directions in which they differ most. */
export function ComponentsSection({ figures }: { figures: DeepFigures }) {
  const { id: run } = route.useParams();
  const found = figures.components;
  const [first, second] = found?.components ?? [];
  if (!found || !first) return null;
  const outliers = new Set(
    figures.outlierTargets?.targets.filter((each) => each.isOutlier).map((each) => each.column),
  );
  const points = found.columns.map((column, position) => {
    const [x, y] = [first.coordinates[position] ?? 0, second?.coordinates[position] ?? 0];
    const target = figures.columns[column];
    const name = target?.name ?? "";
    const isMarked = outliers.has(column);
    return {
      name,
      x,
      y,
      isMarked,
      text: `${visible(name)}: ${formatSigned(x)}, ${formatSigned(y)}${isMarked ? ", unlike the others" : ""}`,
      link: target && transcriptsOf(run, target.targetId),
    };
  });
  return (
    <Section title="Principal components">
      <p className={styles.note}>
        Targets that answer the same scenarios alike lie close together; a ring marks one that answers unlike
        the others. A mark leads to the conversations of its target.
        {found.imputedShare > 0 && ` ${formatShare(found.imputedShare)} of the values are estimated.`}
      </p>
      <ScatterPlot
        title="Targets along the first two principal components"
        description={points.map((each) => each.text).join("; ")}
        fileName="components"
        points={points}
        xAxis={axisOf(1, first)}
        yAxis={second ? axisOf(2, second) : ""}
        table={
          <table>
            <thead>
              <tr>
                <th scope="col">Target</th>
                {found.components.map((each, position) => (
                  <FigureHeader key={each.explainedShare}>{`Component ${position + 1}`}</FigureHeader>
                ))}
              </tr>
            </thead>
            <tbody>
              {points.map((point, row) => (
                <tr key={point.name}>
                  <th scope="row">{visible(point.name)}</th>
                  {found.components.map((each) => (
                    <td key={each.explainedShare} className="figure">
                      {formatSigned(each.coordinates[row])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        }
      />
      {found.components.slice(0, Math.max(1, found.aboveChance)).map((each, position) => (
        <Loadings key={each.explainedShare} component={each} number={position + 1} />
      ))}
    </Section>
  );
}

function transcriptsOf(run: string, model: string): LinkProps {
  return { to: "/runs/$id", params: { id: run }, search: { target: model } };
}

function axisOf(number: number, component: Component): string {
  const share = formatShare(component.explainedShare);
  return `component ${number}: ${share} of the differences${component.isAboveChance ? "" : ", no more than by chance"}`;
}

function Loadings({ component, number }: { component: Component; number: number }) {
  const dimensions = component.dimensions.filter((each) => each.correlation !== null);
  return (
    <details>
      <summary>Scenarios that make up component {number}</summary>
      {dimensions.length > 0 && (
        <p>
          It goes with{" "}
          {dimensions
            .map((each) => `${visible(each.dimension)} (r ${formatSigned(each.correlation)})`)
            .join(", ")}
          .
        </p>
      )}
      <ScrollRegion label={`Loadings of component ${number}`}>
        <table className={styles.contested}>
          <thead>
            <tr>
              <th scope="col">Scenario</th>
              <FigureHeader>Loading</FigureHeader>
            </tr>
          </thead>
          <tbody>
            {component.loadings.slice(0, SHOWN_LOADINGS).map((each) => (
              <tr key={each.scenarioId}>
                <th scope="row">
                  <ScenarioLink id={each.scenarioId} name={each.scenarioName} />
                </th>
                <td className="figure">{formatDecimal(each.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </details>
  );
}
