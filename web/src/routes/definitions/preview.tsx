import { useState } from "react";
import type { Content } from "../../lib/definitions";
import { visible } from "../../lib/format";
import {
  dimensionsOf,
  normalizeName,
  type PreviewDimension,
  renderTemplate,
  templateProblems,
  tryPattern,
} from "../../lib/preview";
import { Field } from "../../ui/field";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { TextField } from "../../ui/text_field";
import styles from "./definitions.module.css";

/** What the content that is being written would ask, and how it would read an answer. */
export function Preview({ content }: { content: Content }) {
  const template = typeof content["template"] === "string" ? content["template"] : null;
  const pattern = patternOf(content);
  if (template === null && pattern === null) return null;
  return (
    <>
      {template !== null && <Scenario template={template} content={content} />}
      {pattern !== null && <PatternTrial pattern={pattern} />}
    </>
  );
}

function patternOf(content: Content): string | null {
  const decision = content["decision"];
  if (typeof decision !== "object" || decision === null || !("pattern" in decision)) return null;
  return typeof decision.pattern === "string" && decision.pattern !== "" ? decision.pattern : null;
}

function Scenario({ template, content }: { template: string; content: Content }) {
  const dimensions = dimensionsOf(content).filter((each) => each.levels.length > 0);
  const [chosen, choose] = useState<Readonly<Record<string, number>>>({});
  const positionOf = ({ name, levels }: PreviewDimension) =>
    Math.min(chosen[normalizeName(name)] ?? 0, levels.length - 1);
  const values = new Map(
    dimensions.map((each) => [normalizeName(each.name), each.levels[positionOf(each)]?.phrases[0] ?? ""]),
  );
  const problems = templateProblems(content);
  return (
    <Section title="Preview of a scenario">
      {problems.length > 0 && (
        <ul className={styles.problems} aria-label="Problems of the template">
          {problems.map((each) => (
            <li key={each}>{visible(each)}</li>
          ))}
        </ul>
      )}
      <div className={page.filters}>
        {dimensions.map((each) => (
          <label key={each.name}>
            {visible(each.name)}
            <select
              value={positionOf(each)}
              onChange={(event) =>
                choose({ ...chosen, [normalizeName(each.name)]: Number(event.target.value) })
              }
            >
              {each.levels.map((level, position) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: levels are chosen by their position
                <option key={position} value={position}>
                  {visible(level.label)}
                </option>
              ))}
            </select>
          </label>
        ))}
      </div>
      <blockquote className={styles.preview}>{visible(renderTemplate(template, values))}</blockquote>
    </Section>
  );
}

function PatternTrial({ pattern }: { pattern: string }) {
  const [answer, setAnswer] = useState("");
  const decision = tryPattern(pattern, answer);
  return (
    <Section title="Try the decision pattern">
      <TextField
        label="An answer"
        id="tried-answer"
        rows={4}
        maxLength={20_000}
        note="Nothing is called and nothing is stored"
        value={answer}
        onChange={setAnswer}
      />
      <Field label="Decision" id="tried-decision">
        <output id="tried-decision" htmlFor="tried-answer">
          {answer === "" ? (
            "Paste an answer to see what is read from it."
          ) : decision.kind === "untried" ? (
            "This expression cannot be tried in a browser; runs apply it as Python does."
          ) : decision.kind === "none" ? (
            "No match: the conversation would have no decision."
          ) : (
            <>
              <strong>{decision.code}</strong>, from “{visible(decision.found)}”
            </>
          )}
        </output>
      </Field>
    </Section>
  );
}
