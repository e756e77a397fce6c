import { useInfiniteQuery } from "@tanstack/react-query";
import { type Definition, type Scenario, scenariosQuery } from "../../api/definitions";
import { useCanWrite } from "../../api/role";
import { asText } from "../../lib/definitions";
import { visible } from "../../lib/format";
import { More } from "../../ui/more";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { Empty, Failure, Loading } from "../../ui/states";
import { AddScenarios } from "./add_scenarios";
import { useDefinition } from "./definition";
import styles from "./definitions.module.css";

export function DefinitionScenarios() {
  const { data } = useDefinition();
  return data === undefined ? null : <List definition={data} />;
}

function List({ definition }: { definition: Definition }) {
  const canWrite = useCanWrite();
  const query = useInfiniteQuery(scenariosQuery(definition.id, definition.version));
  const items = query.data?.pages.flatMap((each) => each.items) ?? [];
  return (
    <>
      {canWrite && <AddScenarios definition={definition} />}
      {query.isPending && <Loading what="scenarios" />}
      {query.isError && <Failure error={query.error} what="Scenarios" retry={() => void query.refetch()} />}
      {query.isSuccess && items.length === 0 && (
        <Empty title="No scenarios yet">
          <p>A scenario is one concrete case: what the user says first, and what a good answer has.</p>
        </Empty>
      )}
      {items.length > 0 && (
        <section aria-label="Scenarios">
          {items.map((each) => (
            <ScenarioRow key={each.id} scenario={each} />
          ))}
          <More query={query} shown={items.length} noun="scenario" />
        </section>
      )}
    </>
  );
}

function messageText(message: Scenario["messages"][number]): string {
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => part.text ?? `[${part.type}: ${part.name ?? "a file"}]`).join("\n");
}

function ScenarioRow({ scenario }: { scenario: Scenario }) {
  const first = scenario.messages.find((each) => each.role === "user") ?? scenario.messages[0];
  const scores = Object.entries(scenario.dimensions).map(([name, score]) => `${name} ${score}`);
  return (
    <details className={styles.scenario}>
      <summary>
        <span className={styles.title}>{visible(scenario.name || scenario.id)}</span>
        <span className={styles.first}>{first ? visible(messageText(first).slice(0, 300)) : ""}</span>
        <span className={styles.scores}>{visible(scores.join(", "))}</span>
      </summary>
      <Details scenario={scenario} />
    </details>
  );
}

const TEXTS = [
  ["instructions", "What the simulated user wants"],
  ["successCriteria", "Success criteria"],
  ["failureCriteria", "Failure criteria"],
] as const;
const OTHERS = [
  ["followUps", "Follow-ups"],
  ["assertions", "Assertions"],
  ["personaIds", "Personas"],
  ["toolResults", "Results of tools"],
  ["messagesByPrompt", "Messages by prompt"],
  ["metadata", "Metadata"],
] as const;

function Details({ scenario }: { scenario: Scenario }) {
  const name = scenario.name || scenario.id;
  return (
    <div className={styles.details}>
      {scenario.messages.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages of a scenario never move
        <div key={index}>
          <h2>{message.role}</h2>
          <p className={page.prose}>{visible(messageText(message))}</p>
        </div>
      ))}
      {TEXTS.map(
        ([field, heading]) =>
          scenario[field] && (
            <div key={field}>
              <h2>{heading}</h2>
              <p className={page.prose}>{visible(scenario[field])}</p>
            </div>
          ),
      )}
      {OTHERS.map(([field, title]) => {
        const text = asText(scenario[field]);
        const heading =
          field === "followUps" && scenario.separateTurns ? `${title}, each asked alone` : title;
        return (
          text && (
            <div key={field}>
              <h2>{heading}</h2>
              <PlainText label={`${heading} of ${visible(name)}`} text={text} isCode />
            </div>
          )
        );
      })}
      <p className={page.note}>
        Id <code>{visible(scenario.id)}</code>
      </p>
    </div>
  );
}
