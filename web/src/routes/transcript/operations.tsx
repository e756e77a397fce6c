import type { Transcript } from "../../api/types";

import { visible } from "../../lib/format";
import { asValue, stepsOf } from "../../lib/turns";
import { useToggle } from "../../ui/fold";
import page from "../../ui/page.module.css";
import { Phase } from "../chats/steps";
import styles from "./transcript.module.css";

type Turn = Readonly<Record<string, unknown>>;

/** Shows the operations before and after each answer, and the artifacts at the end, with an operation profile. */
export function Operations({ transcript }: { transcript: Transcript }) {
  const turns = transcript.content?.turns ?? [];
  const artifacts = Object.entries(transcript.content?.artifacts ?? {});
  if (turns.length === 0 && artifacts.length === 0) return null;
  return (
    <section className={styles.operations} aria-label="Operations of the profile">
      <h3 className={styles.subhead}>Operations of the profile</h3>
      {turns.map((turn, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns of a transcript never move
        <TurnOperations key={index} turn={turn} number={index + 1} />
      ))}
      {artifacts.length > 0 && (
        <>
          <h3 className={styles.subhead}>Artifacts after the last turn</h3>
          <dl className={page.pairs}>
            {artifacts.map(([tag, value]) => (
              <div key={tag}>
                <dt>{visible(tag)}</dt>
                <dd className={styles.value}>{visible(asValue(value) ?? "")}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </section>
  );
}

function TurnOperations({ turn, number }: { turn: Turn; number: number }) {
  const [isOpen, toggle] = useToggle();
  const steps = stepsOf(Array.isArray(turn["operations"]) ? (turn["operations"] as Turn[]) : []);
  return (
    <details className={styles.fold} onToggle={toggle}>
      <summary>
        Turn {number}:{" "}
        {steps.map((step) => `${visible(step.name)} ${step.status}`).join(", ") || "nothing ran"}
      </summary>
      {isOpen && (
        <>
          <Phase title="Before the call" steps={steps} hook="before_main_llm" number={number} />
          <Phase title="After the answer" steps={steps} hook="after_main_llm" number={number} />
        </>
      )}
    </details>
  );
}
