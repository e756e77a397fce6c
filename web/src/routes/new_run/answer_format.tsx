import { AnswerFormatInput } from "../../api/limits";
import { type Bounds, parseWhole } from "../../lib/forms";
import { type FormatValues, formatInput } from "../../lib/scale_run";
import { Field } from "../../ui/field";
import { JsonField } from "../../ui/json_field";
import { NumberField, wholeNumberError } from "../../ui/number_field";
import page from "../../ui/page.module.css";
import { TextField } from "../../ui/text_field";
import styles from "./new_run.module.css";

interface Props {
  values: FormatValues;
  change: (values: FormatValues) => void;
}

const KINDS: Record<FormatValues["kind"], string> = { any: "any text", json: "JSON", xml: "XML" };

export function AnswerFormat({ values, change }: Props) {
  const set = (name: keyof FormatValues) => (value: string) => change({ ...values, [name]: value });
  const format = formatInput(values);
  const state = format === undefined ? "incomplete" : format === null ? "any" : KINDS[values.kind];
  const [least, most] = [
    parseWhole(values.minWords, AnswerFormatInput.minWords),
    parseWhole(values.maxWords, AnswerFormatInput.maxWords),
  ];
  const areReversed = typeof least === "number" && typeof most === "number" && least > most;
  return (
    <details className={page.fold}>
      <summary>Answer format: {state}</summary>
      <div className={styles.parts}>
        <Field label="The last answer is" id="format">
          <select id="format" value={values.kind} onChange={(event) => set("kind")(event.target.value)}>
            {Object.entries(KINDS).map(([kind, name]) => (
              <option key={kind} value={kind}>
                {name}
              </option>
            ))}
          </select>
        </Field>
        {values.kind === "json" && (
          <JsonField
            label="JSON Schema (optional)"
            id="schema"
            rows={8}
            path="format.jsonSchema"
            note="Empty for any JSON"
            value={values.schema}
            issues={[]}
            onChange={set("schema")}
          />
        )}
        {values.kind === "xml" && (
          <TextField
            label="Elements (optional)"
            id="elements"
            maxLength={20_000}
            note="Such as order.item, separated by commas; empty for any XML"
            value={values.elements}
            onChange={set("elements")}
          />
        )}
        <TextField
          label="Regular expression (optional)"
          id="pattern"
          maxLength={AnswerFormatInput.pattern.maxLength}
          note="As in JavaScript; the answer must have a match"
          value={values.pattern}
          onChange={set("pattern")}
        />
        <div className={styles.pair}>
          <Words
            label="Minimum words (optional)"
            id="min-words"
            bounds={AnswerFormatInput.minWords}
            value={values.minWords}
            change={set("minWords")}
          />
          <Words
            label="Maximum words (optional)"
            id="max-words"
            bounds={AnswerFormatInput.maxWords}
            value={values.maxWords}
            error={areReversed ? "At least the minimum" : undefined}
            change={set("maxWords")}
          />
        </div>
      </div>
    </details>
  );
}

interface WordsProps {
  label: string;
  id: string;
  bounds: Bounds;
  value: string;
  error?: string | undefined;
  change: (text: string) => void;
}

function Words({ label, id, bounds, value, error, change }: WordsProps) {
  const isNumber = parseWhole(value, bounds) !== undefined;
  const wrong = isNumber ? error : wholeNumberError(bounds);
  return <NumberField label={label} id={id} error={wrong} value={value} change={change} />;
}
