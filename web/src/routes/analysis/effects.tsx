import type { DeepFigures } from "../../api/types";

import { formatDecimal, formatInterval, formatP, formatShare, formatSigned, visible } from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import styles from "./analysis.module.css";

/** Shows the effect of each dimension on each target while the others stay the same. */
export function Effects({ figures }: { figures: DeepFigures }) {
  const { effects, columns } = figures;
  if (!effects) return null;
  return (
    <Section title="Effects of the dimensions">
      <p className={styles.note}>
        Change of the answer per step between neighboring levels, the other dimensions being equal.
        Significant ones, by p adjusted for all targets and dimensions, are in bold.
      </p>
      <ScrollRegion label="effects of the dimensions">
        <table>
          <thead>
            <tr>
              <th scope="col">Target</th>
              {effects.dimensions.map((each) => (
                <FigureHeader key={each}>{visible(each)}</FigureHeader>
              ))}
              <FigureHeader>R²</FigureHeader>
            </tr>
          </thead>
          <tbody>
            {effects.regressions.map((each) => (
              <tr key={each.column}>
                <th scope="row">{visible(columns[each.column]?.name ?? "")}</th>
                {each.slopes.map((slope) => (
                  <td
                    key={slope.dimension}
                    className="figure"
                    title={`slope ${formatDecimal(slope.slope)} (95% interval ${formatInterval(slope.interval95, formatDecimal)}), adjusted p ${formatP(slope.adjustedP)}`}
                  >
                    {slope.adjustedP !== null && slope.adjustedP < 0.05 ? (
                      <strong>{formatSigned(slope.perStep)}</strong>
                    ) : (
                      formatSigned(slope.perStep)
                    )}
                  </td>
                ))}
                <td className="figure">{formatDecimal(each.rSquared)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      <ul className={styles.list}>
        {effects.equality
          .filter((each) => each.adjustedP !== null && each.adjustedP < 0.05)
          .map((each) => (
            <li key={each.dimension}>
              {visible(each.dimension)} changes the answers of some targets more than those of others
              (adjusted p {formatP(each.adjustedP)}).
            </li>
          ))}
      </ul>
    </Section>
  );
}

export function Variance({ figures }: { figures: DeepFigures }) {
  const { variance } = figures;
  if (!variance) return null;
  const shares: [string, number | null][] = [
    ["between targets", variance.target],
    ["between scenarios", variance.scenario],
    ["targets reacting differently to scenarios", variance.targetByScenario],
    ["between answers of one target to one scenario", variance.repeat],
  ];
  return (
    <Section title="Where differences between answers come from">
      <ul className={styles.list}>
        {shares.map(
          ([name, share]) =>
            share !== null && (
              <li key={name}>
                {formatShare(share)} {name}
              </li>
            ),
        )}
      </ul>
      {variance.repeat === null && (
        <p className={styles.note}>
          Without repeats, chance is part of how targets react to single scenarios.
        </p>
      )}
    </Section>
  );
}
