import type { Scenario } from "../../api/types";

import { asText } from "../../lib/definitions";
import { visible } from "../../lib/format";
import { FilePart } from "../../ui/file_part";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import styles from "./definitions.module.css";

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

export function ScenarioDetails({ scenario }: { scenario: Scenario }) {
  const name = scenario.name || scenario.id;
  return (
    <div className={styles.details}>
      {scenario.messages.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages of a scenario never move
        <div key={index}>
          <h2>{message.role}</h2>
          {typeof message.content === "string" ? (
            <p className={page.prose}>{visible(message.content)}</p>
          ) : (
            message.content.map((part, position) =>
              part.type === "text" ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: parts of a message never move
                <p key={position} className={page.prose}>
                  {visible(part.text ?? "")}
                </p>
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: parts of a message never move
                <FilePart key={position} part={part} />
              ),
            )
          )}
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
