import type { Scenario } from "../../api/types";
import { asText } from "../../lib/definitions";
import { visible } from "../../lib/format";
import { variablesOf } from "../../lib/scenario_table";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import styles from "./definitions.module.css";
import { CheckList, MessageList, Pairs, TextList } from "./readable";

const TEXTS = [
  ["instructions", "What the simulated user wants"],
  ["successCriteria", "Success criteria"],
  ["failureCriteria", "Failure criteria"],
] as const;
const OTHERS = [
  ["personaIds", "Personas"],
  ["toolResults", "Results of tools"],
] as const;

export function ScenarioDetails({ scenario }: { scenario: Scenario }) {
  const name = scenario.name || scenario.id;
  const { followUps = [], assertions = [] } = scenario;
  return (
    <div className={styles.details}>
      {scenario.messages.length > 0 && (
        <div>
          <h2>Messages</h2>
          <MessageList messages={scenario.messages} />
        </div>
      )}
      {TEXTS.map(
        ([field, heading]) =>
          scenario[field] && (
            <div key={field}>
              <h2>{heading}</h2>
              <p className={page.prose}>{visible(scenario[field])}</p>
            </div>
          ),
      )}
      {Object.entries(scenario.messagesByPrompt ?? {}).map(([prompt, messages]) => (
        <div key={prompt}>
          <h2>Messages for prompt {visible(prompt)}</h2>
          <MessageList messages={messages} />
        </div>
      ))}
      {followUps.length > 0 && (
        <div>
          <h2>{scenario.separateTurns ? "Follow-ups, each asked alone" : "Follow-ups"}</h2>
          <TextList texts={followUps} />
        </div>
      )}
      {assertions.length > 0 && (
        <div>
          <h2>Assertions</h2>
          <CheckList assertions={assertions} />
        </div>
      )}
      <Variables scenario={scenario} />
      {OTHERS.map(([field, heading]) => {
        const text = asText(scenario[field]);
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

function Variables({ scenario }: { scenario: Scenario }) {
  const { vars: _, ...others } = scenario.metadata;
  const label = visible(scenario.name || scenario.id);
  return (
    <>
      {[
        ["Variables", variablesOf(scenario)] as const,
        ["Dimensions", scenario.dimensions] as const,
        ["Metadata", others] as const,
      ].map(
        ([heading, values]) =>
          Object.keys(values).length > 0 && (
            <div key={heading}>
              <h2>{heading}</h2>
              <Pairs values={values} label={label} />
            </div>
          ),
      )}
    </>
  );
}
