import { useContext, useRef } from "react";
import { visible } from "../../../lib/format";
import { levelChoices, MAX_LEVELS, withLevel } from "../../../lib/level_choice";
import page from "../../../ui/page.module.css";
import { DimensionsContext, useForm, useIssues } from "./context";
import { idOf, JsonControl, type Of } from "./control";
import styles from "./form.module.css";
import { GroupError } from "./group_error";

/** Edits levels of the definition's dimensions, and scores that no longer belong to any of them. */
export function ScoresControl(props: Of<"scores">) {
  const { path, value, label, note, isRequired } = props;
  const { change } = useForm();
  const group = useRef<HTMLFieldSetElement>(null);
  const choices = levelChoices(value, useContext(DimensionsContext));
  const error = useIssues(
    path,
    choices.map((each) => each.name),
  );
  if (choices.reduce((sum, each) => sum + each.levels.length, 0) > MAX_LEVELS) {
    return (
      <JsonControl
        {...props}
        control={{ kind: "json", rows: 3 }}
        note={`${note ?? ""} As scores by dimension.`}
      />
    );
  }
  const choose = (name: string, score: number, isChosen: boolean) => {
    const next = withLevel(value, name, score, isChosen);
    change(path, Object.keys(next).length === 0 && !isRequired ? undefined : next);
    const level = choices.find((each) => each.name === name)?.levels.find((each) => each.score === score);
    // The element is gone, and would take the focus with it.
    if (level?.label === null) group.current?.focus();
  };
  return (
    <fieldset ref={group} className={styles.group} tabIndex={-1}>
      <legend>{label}</legend>
      {note && <p className={page.note}>{note}</p>}
      <GroupError error={error} />
      {choices.length === 0 && <p className={page.note}>The definition has no dimension with a level yet.</p>}
      <div className={styles.fields}>
        {choices.map((each, index) => (
          <Levels
            // biome-ignore lint/suspicious/noArrayIndexKey: dimensions may have one name while they are typed
            key={index}
            id={`${idOf(path)}-${index}`}
            path={`${path}.${each.name}`}
            dimension={each}
            choose={(score, isChosen) => choose(each.name, score, isChosen)}
          />
        ))}
      </div>
    </fieldset>
  );
}

interface LevelsProps {
  id: string;
  path: string;
  dimension: ReturnType<typeof levelChoices>[number];
  choose: (score: number, isChosen: boolean) => void;
}

function Levels({ id, path, dimension, choose }: LevelsProps) {
  const error = useIssues(path);
  const { name, isKnown, levels } = dimension;
  return (
    <fieldset className={styles.choices} aria-describedby={error ? `${id}-error` : undefined}>
      <legend>
        {visible(name)}
        {!isKnown && <span className={page.note}> no dimension of this definition</span>}
      </legend>
      {levels.map(({ score, label, isChosen }) => (
        <label key={score} className={page.check}>
          <input
            type="checkbox"
            checked={isChosen}
            aria-invalid={error !== undefined}
            onChange={(event) => choose(score, event.target.checked)}
          />
          <span>
            {score}: {label === null ? <em>no such level</em> : visible(label)}
          </span>
        </label>
      ))}
      {error && (
        <small id={`${id}-error`} className={styles.error}>
          {error}
        </small>
      )}
    </fieldset>
  );
}
