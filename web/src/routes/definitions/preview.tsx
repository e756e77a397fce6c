import { useDeferredValue, useMemo, useState } from "react";
import { type Decision, patternError, readDecisions } from "../../lib/decision_pattern";
import type { Content } from "../../lib/definitions";
import { visible } from "../../lib/format";
import {
  dimensionsOf,
  normalizeName,
  type PreviewDimension,
  renderTemplate,
  splitAnswers,
} from "../../lib/preview";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { TextField } from "../../ui/text_field";
import styles from "./definitions.module.css";
import { TemplateProblems } from "./form/template_problems";

/** What the content that is being written would ask, and how it would read an answer. */
export function Preview({ content }: { content: Content }) {
  const pattern = patternOf(content);
  return (
    <div className={page.apart}>
      <TemplateProblems content={content} />
      <ScenarioPreview content={content} />
      {pattern !== null && <PatternTrial pattern={pattern} />}
    </div>
  );
}

export function patternOf(content: Content): string | null {
  const decision = content["decision"];
  if (typeof decision !== "object" || decision === null || !("pattern" in decision)) return null;
  return typeof decision.pattern === "string" && decision.pattern !== "" ? decision.pattern : null;
}

export function ScenarioPreview({ content }: { content: Content }) {
  const template = typeof content["template"] === "string" ? content["template"] : null;
  const dimensions = dimensionsOf(content).filter((each) => each.levels.length > 0);
  const [chosen, choose] = useState<Readonly<Record<string, number>>>({});
  if (template === null) return null;
  const positionOf = ({ name, levels }: PreviewDimension) =>
    Math.min(chosen[normalizeName(name)] ?? 0, levels.length - 1);
  const values = new Map(
    dimensions.map((each) => [normalizeName(each.name), each.levels[positionOf(each)]?.phrases[0] ?? ""]),
  );
  return (
    <Section title="Preview of a scenario">
      <div className={page.filters}>
        {dimensions.map((each, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: dimensions may have one name while they are typed
          <label key={index}>
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

const WITHOUT_CODE: Readonly<Record<Exclude<Decision["kind"], "code">, string>> = {
  none: "none: no match",
  unknown: "This expression cannot be tried here: it is wrong, or only known to the API",
  slow: "Not tried to the end: the expression takes too many steps",
};
const MAX_LENGTH = 200_000;

export function PatternTrial({ pattern }: { pattern: string }) {
  const [text, setText] = useState("");
  const answers = useDeferredValue(text);
  const tried = useDeferredValue(pattern);
  const decisions = useMemo(() => readDecisions(tried, splitAnswers(answers)), [tried, answers]);
  const error = useMemo(() => patternError(tried), [tried]);
  return (
    <Section title="Try the decision pattern">
      <TextField
        label="Answers"
        id="tried-answers"
        rows={4}
        maxLength={MAX_LENGTH}
        note="Several with a line of --- between two. Nothing is called and nothing is stored"
        value={text}
        onChange={setText}
      />
      <div role="status" aria-label="Decisions" className={styles.decisions}>
        {error && <p>The pattern {error}.</p>}
        {decisions.length > 0 && (
          <ScrollRegion label="Decisions">
            <table>
              <thead>
                <tr>
                  <th scope="col">Answer</th>
                  <th scope="col">Decision</th>
                  <th scope="col">Read from</th>
                </tr>
              </thead>
              <tbody>
                {decisions.map((decision, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: answers are named by their position
                  <tr key={index}>
                    <th scope="row">{index + 1}</th>
                    {decision.kind === "code" ? (
                      <>
                        <td>{decision.code}</td>
                        <td className={page.cell}>{visible(decision.found)}</td>
                      </>
                    ) : (
                      <td colSpan={2}>{WITHOUT_CODE[decision.kind]}</td>
                    )}
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollRegion>
        )}
      </div>
    </Section>
  );
}
