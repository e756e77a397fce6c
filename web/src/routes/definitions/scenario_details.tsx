import type { Scenario } from "../../api/definitions";
import { asText } from "../../lib/definitions";
import { visible } from "../../lib/format";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import styles from "./definitions.module.css";

export function messageText(message: Scenario["messages"][number]): string {
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => part.text ?? `[${part.type}: ${part.name ?? "a file"}]`).join("\n");
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

/** All of a scenario that is set. */
export function ScenarioDetails({ scenario }: { scenario: Scenario }) {
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
