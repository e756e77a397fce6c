import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { forksQuery } from "../../api/definitions";
import type { Definition, DefinitionContent, Message } from "../../api/types";
import { presentContent } from "../../lib/content_fields";
import { exactText, fieldName, pieces } from "../../lib/definitions";
import { visible } from "../../lib/format";
import { CopyButton } from "../../ui/copy";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Empty } from "../../ui/states";
import { useDefinition } from "./definition";
import styles from "./definitions.module.css";
import { CheckList, MessageList, Pairs, TextList } from "./readable";

const SHOWN = new Set(["system", "template", "dimensions", "prompts"]);
const OTHERS = [
  "decision",
  "assertions",
  "followUps",
  "maxTurns",
  "params",
  "matchingRules",
  "toolResults",
  "derivedMetrics",
];

export function DefinitionContents() {
  const { data: definition } = useDefinition();
  if (definition === undefined) return null;
  const { content } = definition;
  const present = presentContent(content);
  const others = OTHERS.filter((field) => exactText(present[field]) !== "");
  const isEmpty = others.length === 0 && ![...SHOWN].some((field) => exactText(present[field]) !== "");
  return (
    <>
      <Warnings definition={definition} />
      {isEmpty && (
        <Empty title="No content">
          <p>This definition consists of its scenarios.</p>
        </Empty>
      )}
      {content.system && (
        <Section title="System prompt">
          <div className={page.bar}>
            <CopyButton label="Copy" text={content.system} />
          </div>
          <PlainText label="Text of the system prompt" text={content.system} />
        </Section>
      )}
      {content.template && <Template content={content} template={content.template} />}
      {content.prompts && content.prompts.length > 0 && <Prompts prompts={content.prompts} />}
      {content.dimensions && content.dimensions.length > 0 && <Dimensions dimensions={content.dimensions} />}
      {others.map((field) => (
        <Section key={field} title={fieldName(field)}>
          <FieldValue field={field} content={content} text={exactText(present[field])} />
        </Section>
      ))}
      <Forks id={definition.id} />
    </>
  );
}

type Prompt = NonNullable<DefinitionContent["prompts"]>[number];

function Prompts({ prompts }: { prompts: readonly Prompt[] }) {
  return (
    <Section title="Prompts">
      {prompts.map(({ id, label, system, template, messages, params }) => {
        const name = visible(label || id);
        return (
          <section key={id} aria-label={`Prompt ${name}`}>
            <h3>
              {name}
              {label && <span className={page.note}> {visible(id)}</span>}
            </h3>
            {system && (
              <>
                <p className={page.note}>System prompt</p>
                <PlainText label={`System prompt of ${name}`} text={system} />
              </>
            )}
            {template && (
              <>
                <p className={page.note}>User message</p>
                <PlainText label={`User message of ${name}`} text={template} />
              </>
            )}
            {/* What is read has the content of every message. */}
            {messages && messages.length > 0 && <MessageList messages={messages as Message[]} />}
            {params && <Pairs values={{ ...params }} label={name} />}
            {!system && !template && !messages?.length && (
              <p className={page.note}>The definition’s own texts, unchanged</p>
            )}
          </section>
        );
      })}
    </Section>
  );
}

const DECISION_NAMES = {
  pattern: "Pattern",
  rubric: "Rubric for the judge",
  judgeModel: "Judge",
  favors: "Between two dimensions",
};

/** Shows what a person reads as text, and the rest as JSON. */
function FieldValue({ field, content, text }: { field: string; content: DefinitionContent; text: string }) {
  const { assertions, followUps, decision, params, derivedMetrics } = content;
  if (field === "assertions" && assertions) return <CheckList assertions={assertions} />;
  if (field === "followUps" && followUps) return <TextList texts={followUps} />;
  if (field === "params" && params) return <Pairs values={{ ...params }} label="the definition" />;
  if (field === "decision" && decision)
    return <Pairs values={{ ...decision }} label="the decision rule" names={DECISION_NAMES} />;
  if (field === "derivedMetrics" && derivedMetrics) {
    const metrics = derivedMetrics.map(({ name, value }) => [name, value]);
    return <Pairs values={Object.fromEntries(metrics)} label="derived metrics" />;
  }
  if (field === "maxTurns") return <p>{text}</p>;
  return <PlainText label={`Value of ${fieldName(field)}`} text={text} isCode />;
}

function Warnings({ definition }: { definition: Definition }) {
  if (definition.warnings.length === 0) return null;
  return (
    <div className={page.warning} role="status">
      <strong>Possible mistakes</strong>
      <ul className={page.list}>
        {definition.warnings.map((warning) => (
          <li key={warning.field + warning.message}>
            <code>{visible(warning.field)}</code> {visible(warning.message)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Template({ content, template }: { content: DefinitionContent; template: string }) {
  const names = (content.dimensions ?? []).map((each) => each.name);
  return (
    <Section title="Template">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={page.text} aria-label="Text of the template" tabIndex={0}>
        {pieces(template, names).map((piece, index) =>
          piece.isPlaceholder ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a template never move
            <mark key={index} className={styles.placeholder}>
              {visible(piece.text)}
            </mark>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a template never move
            <span key={index}>{visible(piece.text)}</span>
          ),
        )}
      </section>
    </Section>
  );
}

function Dimensions({ dimensions }: { dimensions: NonNullable<DefinitionContent["dimensions"]> }) {
  return (
    <Section title="Dimensions">
      <ScrollRegion label="Dimensions">
        <table>
          <thead>
            <tr>
              <th scope="col">Dimension</th>
              <FigureHeader>Score</FigureHeader>
              <th scope="col">Level</th>
              <th scope="col">Texts</th>
            </tr>
          </thead>
          <tbody>
            {dimensions.flatMap((dimension) =>
              dimension.levels.map((level, index) => (
                <tr key={`${dimension.name} ${level.score}`}>
                  {index === 0 && (
                    <th scope="rowgroup" rowSpan={dimension.levels.length} className={page.name}>
                      {visible(dimension.name)}
                    </th>
                  )}
                  <td className="figure">{level.score}</td>
                  <td className={page.name}>
                    {visible(level.label)}
                    {level.description && <small>{visible(level.description)}</small>}
                  </td>
                  <td className={styles.options}>{visible((level.options ?? []).join(" / "))}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}

function Forks({ id }: { id: string }) {
  const { data } = useQuery(forksQuery(id));
  if (!data || data.items.length === 0) return null;
  return (
    <Section title="Forks">
      <ul className={page.list}>
        {data.items.map((each) => (
          <li key={each.id}>
            <Link to="/definitions/$id" params={{ id: each.id }}>
              {visible(each.name)}
            </Link>
            , of version {each.parentVersion}
          </li>
        ))}
      </ul>
      {data.nextCursor !== null && <p className={page.note}>The first {data.items.length} are shown.</p>}
    </Section>
  );
}
