import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { decisionsQuery } from "../../api/definitions";
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
import { useSettled } from "../../ui/settled";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import styles from "./definitions.module.css";
import { TemplateProblems } from "./form/template_problems";

/** Shows what the written content would ask, and how it would read an answer. */
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

const MAX_LENGTH = 200_000;
const SHOWN = 80;

/** Shows what the API reads from pasted answers, as a run would. */
export function PatternTrial({ pattern }: { pattern: string }) {
  const [text, setText] = useState("");
  const answers = splitAnswers(useSettled(text));
  const query = useQuery(decisionsQuery(useSettled(pattern), answers));
  return (
    <Section title="Try the decision pattern">
      <TextField
        label="Answers"
        id="tried-answers"
        rows={4}
        maxLength={MAX_LENGTH}
        note="Several with a line of --- between two. No model is called and nothing is stored"
        value={text}
        onChange={setText}
      />
      <div role="status" aria-label="Decisions" className={styles.decisions}>
        {query.isError && <Failure error={query.error} what="The decisions" />}
        {query.isSuccess && answers.length > 0 && (
          <ScrollRegion label="Decisions">
            <table>
              <thead>
                <tr>
                  <th scope="col">Answer</th>
                  <th scope="col">Decision</th>
                </tr>
              </thead>
              <tbody>
                {query.data.items.map((decision, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: answers are named by their position
                  <tr key={index}>
                    <th scope="row" className={page.cell}>
                      {visible((answers[index] ?? "").slice(-SHOWN))}
                    </th>
                    <td>{visible(decision.error ?? decision.code ?? "none: no match")}</td>
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
