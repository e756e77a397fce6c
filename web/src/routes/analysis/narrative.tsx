import type { DeepFigures, Narrative } from "../../api/types";

import { formatDecimal, formatInterval, formatUsd, visible } from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import styles from "./analysis.module.css";

const TOPICS = {
  differences: "Differences",
  agreement: "Agreement",
  dimensions: "Dimensions",
  interactions: "Interactions",
  outliers: "Outliers",
  dataQuality: "Data",
} as const;

/** Shows the analysis in sentences, with the figures that support them. */
export function NarrativeSection({ figures }: { figures: DeepFigures }) {
  const { narrative } = figures;
  const cited = new Set(narrative.findings.flatMap((each) => each.facts));
  return (
    <Section title="In short">
      <p>
        <strong>{visible(narrative.headline)}</strong>
      </p>
      <dl className={styles.findings}>
        {narrative.findings.map((each) => (
          <div key={each.topic}>
            <dt>{TOPICS[each.topic]}</dt>
            <dd>{visible(each.text)}</dd>
          </div>
        ))}
      </dl>
      <Points title="Limitations" texts={narrative.limitations} />
      <Points title="Next steps" texts={narrative.nextSteps} />
      <details>
        <summary>Figures behind these sentences</summary>
        <ScrollRegion label="cited figures">
          <table>
            <thead>
              <tr>
                <th scope="col">Figure</th>
                <FigureHeader>Value</FigureHeader>
                <FigureHeader>95% interval</FigureHeader>
                <FigureHeader>n</FigureHeader>
              </tr>
            </thead>
            <tbody>
              {narrative.facts
                .filter((each) => cited.has(each.id))
                .map((each) => (
                  <tr key={each.id}>
                    <th scope="row">{visible(each.label)}</th>
                    <td className="figure">{formatDecimal(each.value)}</td>
                    <td className="figure">{formatInterval(each.interval95, formatDecimal)}</td>
                    <td className="figure">{each.n ?? ""}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </ScrollRegion>
      </details>
      <p className={styles.note}>{writer(narrative)}</p>
    </Section>
  );
}

function writer(narrative: Narrative): string {
  if (narrative.model === null) return "Written by rules, from the figures alone.";
  const cost = narrative.costUsd === null ? "" : ` for ${formatUsd(narrative.costUsd)}`;
  if (narrative.error !== null)
    return `Written by rules: ${visible(narrative.model)} was asked, but ${visible(narrative.error)}`;
  return `Written by ${visible(narrative.model)}${cost}; each number was compared with the figures.`;
}

function Points({ title, texts }: { title: string; texts: readonly string[] }) {
  if (texts.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className={styles.list}>
        {texts.map((text) => (
          <li key={text}>{visible(text)}</li>
        ))}
      </ul>
    </>
  );
}
