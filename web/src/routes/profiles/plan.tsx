import type { Schemas } from "../../api/types";

import { visible } from "../../lib/format";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";

const TRIGGERS = [
  ["generate", "For a new message"],
  ["regenerate", "For another answer to the last message"],
] as const;
const HOOKS = { before_main_llm: "before the call", after_main_llm: "after the answer" } as const;
const REASONS = { disabled: "not in use", trigger_mismatch: "has not this trigger" } as const;

export function Plan({ plans }: { plans: Schemas["TurnPlans"] }) {
  return (
    <Section title="Operations per turn">
      {TRIGGERS.map(([trigger, title]) => (
        <div key={trigger}>
          <h3>{title}</h3>
          <ol className={page.list} aria-label={title}>
            {plans[trigger].steps.map((step) => (
              <li key={step.hook + step.operationId}>
                {visible(step.name)}{" "}
                <span className={page.note}>
                  {step.kind}, {HOOKS[step.hook]}
                  {step.required && ", required"}
                  {step.dependsOn.length > 0 && `, after ${visible(step.dependsOn.join(", "))}`}
                </span>
              </li>
            ))}
          </ol>
          {plans[trigger].steps.length === 0 && <p className={page.note}>Only the model is called.</p>}
          {plans[trigger].omitted.length > 0 && (
            <p className={page.note}>
              Left out:{" "}
              {plans[trigger].omitted
                .map((each) => `${visible(each.operationId)} (${REASONS[each.reason]})`)
                .join(", ")}
            </p>
          )}
        </div>
      ))}
    </Section>
  );
}
