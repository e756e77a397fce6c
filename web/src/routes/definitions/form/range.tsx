import { numberError } from "../../../lib/form_controls";
import { rangeError, withEnd } from "../../../lib/range";
import page from "../../../ui/page.module.css";
import { useForm, useIssues } from "./context";
import { idOf, NumberInput, type Of } from "./control";
import styles from "./form.module.css";
import { GroupError } from "./group_error";

const ENDS = [0, 1] as const;

/** Edits two numbers, the lower one first; both or none. */
export function RangeControl({ control, path, value, label, note }: Of<"range">) {
  const { change } = useForm();
  const refused = useIssues(path);
  const ends = Array.isArray(value) ? value : [null, null];
  const { labels, placeholders, min, max } = control;
  const wrong = rangeError(ends);
  return (
    <fieldset className={styles.group}>
      <legend>{label}</legend>
      {note && <p className={page.note}>{note}</p>}
      <GroupError error={refused} />
      <div className={styles.columns}>
        {ENDS.map((end) => (
          <NumberInput
            key={end}
            label={labels[end]}
            id={`${idOf(path)}-${end}`}
            placeholder={placeholders[end]}
            value={ends[end] ?? undefined}
            error={
              numberError({ kind: "number", min, max }, ends[end] ?? undefined) ??
              (wrong?.end === end ? wrong.message : undefined)
            }
            change={(next) => change(path, withEnd(ends, end, next))}
          />
        ))}
      </div>
    </fieldset>
  );
}
