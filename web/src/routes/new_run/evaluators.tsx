import { ExternalEvaluatorInput, JudgedEvaluatorInput } from "../../api/limits";
import { type EvaluatorValues, evaluatorsInput, type JudgedValues, parseShare } from "../../lib/scale_run";
import { Field } from "../../ui/field";
import { ModelField } from "../../ui/model_field";
import page from "../../ui/page.module.css";
import { TextField } from "../../ui/text_field";
import styles from "./new_run.module.css";

interface Props {
  values: EvaluatorValues;
  change: (values: EvaluatorValues) => void;
}

export function Evaluators({ values, change }: Props) {
  const set = (changes: Partial<EvaluatorValues>) => change({ ...values, ...changes });
  const count = [values.goal.isOn, values.toxicity.isOn, values.refusal, values.format].filter(
    Boolean,
  ).length;
  const isComplete = evaluatorsInput(values) !== undefined;
  return (
    <details className={page.fold}>
      <summary>Evaluators: {isComplete ? `${count} of 4` : "incomplete"}</summary>
      <fieldset className={styles.parts}>
        <legend className="hidden-text">Evaluators</legend>
        <Judged
          id="goal"
          label="The goal is reached"
          values={values.goal}
          change={(goal) => set({ goal })}
          note="With one, the judge must also score the whole conversation"
        />
        <Judged
          id="toxicity"
          label="The last answer is not toxic"
          values={values.toxicity}
          change={(toxicity) => set({ toxicity })}
        />
        <Check
          label="The target does not refuse (checked without a model)"
          isOn={values.refusal}
          change={(refusal) => set({ refusal })}
        />
        <Check
          label="The last answer matches the answer format"
          isOn={values.format}
          change={(format) => set({ format })}
        />
        <Field label="External evaluator" id="external">
          <select
            id="external"
            value={values.external}
            onChange={(event) => set({ external: event.target.value as EvaluatorValues["external"] })}
          >
            <option value="workspace">workspace default, if any</option>
            <option value="none">none</option>
            <option value="own">another address</option>
          </select>
        </Field>
        {values.external === "own" && (
          <TextField
            label="Address of the external evaluator"
            id="evaluator-url"
            maxLength={ExternalEvaluatorInput.url.maxLength}
            note="It is called with each transcript"
            value={values.url}
            error={
              values.url.trim() === "" ? "An address such as https://grader.example.com/eval" : undefined
            }
            onChange={(url) => set({ url })}
          />
        )}
      </fieldset>
    </details>
  );
}

interface CheckProps {
  label: string;
  isOn: boolean;
  change: (isOn: boolean) => void;
}

function Check({ label, isOn, change }: CheckProps) {
  return (
    <label className={styles.check}>
      <input type="checkbox" checked={isOn} onChange={(event) => change(event.target.checked)} />
      {label}
    </label>
  );
}

interface JudgedProps {
  id: string;
  label: string;
  values: JudgedValues;
  change: (values: JudgedValues) => void;
  note?: string;
}

function Judged({ id, label, values, change, note }: JudgedProps) {
  const isShare = parseShare(values.threshold) !== undefined;
  const what = label.toLowerCase();
  return (
    <>
      <Check
        label={`${label}, by a judge`}
        isOn={values.isOn}
        change={(isOn) => change({ ...values, isOn })}
      />
      {values.isOn && (
        <div className={styles.nested}>
          <ModelField
            label={`Judge for “${what}”`}
            id={`${id}-judge`}
            placeholder="the run’s judge"
            value={values.judge}
            change={(judge) => change({ ...values, judge })}
          />
          <Field
            label={`Passing score for “${what}” (optional)`}
            id={`${id}-threshold`}
            error={
              isShare
                ? null
                : `A number from ${JudgedEvaluatorInput.threshold.min} to ${JudgedEvaluatorInput.threshold.max}`
            }
            note={note}
          >
            <input
              id={`${id}-threshold`}
              inputMode="decimal"
              size={8}
              aria-invalid={!isShare}
              aria-describedby={isShare ? undefined : `${id}-threshold-error`}
              value={values.threshold}
              onChange={(event) => change({ ...values, threshold: event.target.value })}
            />
          </Field>
        </div>
      )}
    </>
  );
}
