import type { ComparisonRow } from "../../api/types";

import {
  formatOperating,
  formatOperatingDifference,
  OPERATING_FIGURES,
  operatingName,
} from "../../lib/operating_figures";
import { FigureHeader } from "../../ui/figure_header";
import { ScrollRegion } from "../../ui/scroll";

type Operations = ComparisonRow["operations"];

/** Describes times and costs of the conversations, which are not tested. */
export function Operations({
  operations,
  sides = ["Baseline", "Other run"],
}: {
  operations: Operations;
  sides?: readonly [string, string];
}) {
  const shown = OPERATING_FIGURES.filter(
    (name) => operations.baseline[name] !== null || operations.comparison[name] !== null,
  );
  return (
    <ScrollRegion label="time and cost">
      <table>
        <thead>
          <tr>
            <th scope="col">Per conversation, not tested</th>
            <FigureHeader>{sides[0]}</FigureHeader>
            <FigureHeader>{sides[1]}</FigureHeader>
            <FigureHeader>Difference</FigureHeader>
          </tr>
        </thead>
        <tbody>
          {shown.map((name) => (
            <tr key={name}>
              <th scope="row">{operatingName(name)}</th>
              <td className="figure">{formatOperating(name, operations.baseline[name])}</td>
              <td className="figure">{formatOperating(name, operations.comparison[name])}</td>
              <td className="figure">{formatOperatingDifference(name, operations.difference[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
