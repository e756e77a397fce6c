import { useQuery } from "@tanstack/react-query";
import { CreateRun } from "../../api/limits";
import { experimentNamesQuery } from "../../api/resources";
import { counted, visible } from "../../lib/format";
import {
  countOptions,
  FIELDS,
  type OptionField,
  type Priority,
  type RunOptions,
  wrongOptions,
} from "../../lib/run_options";
import { Field } from "../../ui/field";
import { ModelField } from "../../ui/model_field";
import { NumberField, numberError, wholeNumberError } from "../../ui/number_field";
import page from "../../ui/page.module.css";
import { ProfileField } from "../../ui/profile_field";
import { TextField } from "../../ui/text_field";
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
  const count = countOptions(options);
  return (
    <details className={page.fold}>
      <summary>More options: {count === 0 ? "defaults" : `${counted(count, "option")} set`}</summary>
      <div className={styles.models}>
        <Field label="Priority" id="priority">
          <select
            id="priority"
            value={options.priority}
            onChange={(event) => set("priority")(event.target.value)}
          >
            {CreateRun.priority.options.map((each) => (
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
        {FIELDS.map((field) => (
          <Typed
            key={field.name}
            field={field}
            value={options[field.name]}
            isWrong={wrong.includes(field.name)}
            change={set(field.name)}
          />
        ))}
      </div>
    </details>
  );
}

interface TypedProps {
  field: OptionField;
  value: string;
  isWrong: boolean;
  change: (value: string) => void;
}

function Typed({ field, value, isWrong, change }: TypedProps) {
  if (field.kind === "profile") return <ProfileField value={value} change={change} />;
  const { id, label, note } = field;
  if (field.kind === "model")
    return <ModelField label={label} id={id} placeholder={field.placeholder} value={value} change={change} />;
  if (field.kind === "text")
    return (
      <TextField
        label={label}
        id={id}
        maxLength={field.maxLength}
        note={note}
        value={value}
        onChange={change}
      />
    );
  const errorOf = field.kind === "whole" ? wholeNumberError : numberError;
  return (
    <NumberField
      label={label}
      id={id}
      note={note}
      isAmount={field.kind === "decimal"}
      error={isWrong ? errorOf(field.bounds) : null}
      value={value}
      change={change}
      {...(field.size !== undefined && { size: field.size })}
    />
  );
}
