import { useCallback, useMemo } from "react";
import type { Definition } from "../../api/types";

import { changedAt, type Issue } from "../../lib/content_fields";
import type { Content } from "../../lib/definitions";
import type { FieldSpec } from "../../lib/form_controls";
import { visible } from "../../lib/format";
import { scenarioFields } from "../../lib/scenario_fields";
import { Field } from "../../ui/field";
import { useToggle } from "../../ui/fold";
import { FormContext, useForm, useIssues } from "./form/context";
import { ValueControl } from "./form/controls";
import styles from "./form/form.module.css";
import { Offers } from "./form/parts";

const EMPTY: Content = {};

interface Props {
  definition: Definition;
  scenario: Content;
  /** If true, its messages are edited instead of its first message. */
  hasMessages?: boolean;
  issues: readonly Issue[];
  report: (path: string, isInvalid: boolean) => void;
  set: (change: (scenario: Content) => Content) => void;
}

export function ScenarioControls({ definition, scenario, hasMessages = false, issues, report, set }: Props) {
  const change = useCallback(
    (path: string, value: unknown) =>
      set((now) => (path === "" ? (value as Content) : changedAt(now, path, value))),
    [set],
  );
  const context = useMemo(() => ({ change, issues, report }), [change, issues, report]);
  const [first, further] = scenarioFields(hasMessages);
  return (
    <FormContext value={context}>
      <Offers content={EMPTY} />
      <Controls fields={first} scenario={scenario} />
      <Scores definition={definition} scenario={scenario} />
      <Further fields={further} scenario={scenario} />
    </FormContext>
  );
}

type Fields = { fields: readonly FieldSpec[]; scenario: Content };

/** Shows seldom used fields, open if one of them is set or was refused. */
function Further(props: Fields) {
  const { issues } = useForm();
  const { fields, scenario } = props;
  const [isOpen, toggle] = useToggle(fields.some(({ name }) => scenario[name] !== undefined));
  const hasIssues = issues.some((each) => fields.some(({ name }) => each.field.split(".")[0] === name));
  return (
    <details className={styles.fold} open={isOpen || hasIssues} onToggle={toggle}>
      <summary>More fields of a scenario</summary>
      <div className={styles.fields}>
        <Controls {...props} />
      </div>
    </details>
  );
}
function Controls({ fields, scenario }: Fields) {
  return fields.map(({ name, label, control, note }) => (
    <ValueControl key={name} control={control} path={name} value={scenario[name]} label={label} note={note} />
  ));
}

/** Edits its level of each dimension; names may have dots, so they are no paths. */
function Scores({ definition, scenario }: { definition: Definition; scenario: Content }) {
  const dimensions = definition.content.dimensions ?? [];
  const error = useIssues("dimensions");
  const scores = (scenario["dimensions"] ?? {}) as Readonly<Record<string, number>>;
  if (dimensions.length === 0) return null;
  return (
    <fieldset className={styles.group}>
      <legend>Levels of the dimensions (optional)</legend>
      {error && <p className={styles.error}>{error}</p>}
      <div className={styles.fields}>
        {dimensions.map((each, index) => (
          <Score key={each.name} index={index} dimension={each} scores={scores} />
        ))}
      </div>
    </fieldset>
  );
}

interface ScoreProps {
  index: number;
  dimension: NonNullable<Definition["content"]["dimensions"]>[number];
  scores: Readonly<Record<string, number>>;
}

function Score({ index, dimension, scores }: ScoreProps) {
  const { change } = useForm();
  const id = `scenario-dimension-${index}`;
  const { name, levels } = dimension;
  const choose = (text: string) => {
    const others = Object.entries(scores).filter(([each]) => each !== name);
    const chosen = text === "" ? others : [...others, [name, Number(text)]];
    change("dimensions", chosen.length === 0 ? undefined : Object.fromEntries(chosen));
  };
  return (
    <Field label={visible(name)} id={id}>
      <select
        id={id}
        value={Object.hasOwn(scores, name) ? String(scores[name]) : ""}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">not set</option>
        {levels.map((level) => (
          <option key={level.score} value={level.score}>
            {level.score}: {visible(level.label)}
          </option>
        ))}
      </select>
    </Field>
  );
}
