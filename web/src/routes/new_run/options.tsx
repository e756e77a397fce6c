import { useQuery } from "@tanstack/react-query";
import { experimentNamesQuery } from "../../api/resources";
import { counted, visible } from "../../lib/format";
import {
  countOptions,
  MAX_CONCURRENCY,
  MAX_SEED,
  MAX_TURNS,
  PRIORITIES,
  type Priority,
  type RunOptions,
  wrongOptions,
} from "../../lib/run_options";
import { Field } from "../../ui/field";
import { ModelField } from "../../ui/model_field";
import { NumberField, wholeNumberError } from "../../ui/number_field";
import page from "../../ui/page.module.css";
import styles from "./new_run.module.css";

interface Props {
  options: RunOptions;
  change: (options: RunOptions) => void;
}

const PRIORITY_NAMES: Record<Priority, string> = { LOW: "low", NORMAL: "normal", HIGH: "high" };

export function Options({ options, change }: Props) {
  const experiments = useQuery(experimentNamesQuery).data ?? [];
  const set = (name: keyof RunOptions) => (value: string) => change({ ...options, [name]: value });
  const wrong = wrongOptions(options);
  const error = (name: (typeof wrong)[number], text: string) => (wrong.includes(name) ? text : null);
  const count = countOptions(options);
  return (
    <details className={page.fold}>
      <summary>More options: {count === 0 ? "defaults" : `${counted(count, "option")} set`}</summary>
      <div className={styles.models}>
        <NumberField
          label="Definition version (optional)"
          id="version"
          note="Empty for the newest"
          error={error("version", "A version, from 1")}
          value={options.version}
          change={set("version")}
        />
        <NumberField
          label="Sample seed (optional)"
          id="seed"
          size={16}
          note="The same seed draws the same scenarios; one is drawn if this is empty"
          error={error("seed", wholeNumberError(0, MAX_SEED))}
          value={options.seed}
          change={set("seed")}
        />
        <Field label="Priority" id="priority">
          <select
            id="priority"
            value={options.priority}
            onChange={(event) => set("priority")(event.target.value)}
          >
            {PRIORITIES.map((each) => (
              <option key={each} value={each}>
                {PRIORITY_NAMES[each]}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Experiment" id="experiment">
          <select
            id="experiment"
            value={options.experiment}
            onChange={(event) => set("experiment")(event.target.value)}
          >
            <option value="">none</option>
            {experiments.map((each) => (
              <option key={each.id} value={each.id}>
                {visible(each.name)}
              </option>
            ))}
          </select>
        </Field>
        <NumberField
          label="Temperature (optional)"
          id="temperature"
          isAmount
          note="Empty for what the definition or the model has"
          error={error("temperature", "A number from 0 to 2")}
          value={options.temperature}
          change={set("temperature")}
        />
        <NumberField
          label="Maximum turns per conversation (optional)"
          id="turns"
          error={error("turns", wholeNumberError(1, MAX_TURNS))}
          value={options.turns}
          change={set("turns")}
        />
        <NumberField
          label="Concurrency (conversations at once, optional)"
          id="concurrency"
          note="Empty for no limit of the run's own"
          error={error("concurrency", wholeNumberError(1, MAX_CONCURRENCY))}
          value={options.concurrency}
          change={set("concurrency")}
        />
        <ModelField
          label="Judge"
          id="judge"
          placeholder="definition or workspace default"
          value={options.judge}
          change={set("judge")}
        />
        <ModelField
          label="Simulated user"
          id="persona-model"
          placeholder="the judge"
          value={options.persona}
          change={set("persona")}
        />
        <ModelField
          label="Summarizer of reports"
          id="summarizer"
          placeholder="workspace default, or the judge"
          value={options.summarizer}
          change={set("summarizer")}
        />
      </div>
    </details>
  );
}
