import { type Check, checkOf } from "../../lib/checks";
import { visible } from "../../lib/format";
import { checkChange } from "../../lib/scenario_table";
import styles from "./scenario_table.module.css";
import { type EditableProps, EditableText } from "./text_cell";

type Props = Pick<EditableProps, "definition" | "scenario" | "editing" | "edit" | "label"> & {
  canChange: boolean;
};

/** Lists a scenario's checks in words; a text that an answer is compared with is edited here. */
export function ChecksCell({ canChange, label, ...cell }: Props) {
  const { scenario } = cell;
  const checks = (scenario.assertions ?? []).map(checkOf);
  const criteria = [
    ["succeeds if", scenario.successCriteria],
    ["fails if", scenario.failureCriteria],
  ] as const;
  return (
    <span role="cell" className={styles.checks}>
      {checks.map((check, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: checks are changed in place
        <span key={index}>
          <strong>{visible(check.name)}</strong>{" "}
          {check.isText && canChange ? (
            <EditableText
              {...cell}
              column={`checks.${index}`}
              label={`${visible(check.name)} of ${label}`}
              text={(stored) => checkOf(stored.assertions?.[index] ?? {}).value}
              change={(stored, text) => checkChange(stored, index, text)}
            />
          ) : (
            <span className={styles.text}>{visible(wordsOf(check))}</span>
          )}
        </span>
      ))}
      {criteria.map(
        ([words, text]) =>
          text && (
            <span key={words}>
              <strong>{words}</strong> <span className={styles.text}>{visible(text)}</span>
            </span>
          ),
      )}
    </span>
  );
}

function wordsOf({ value, parts }: Check): string {
  if (parts.length === 0) return value;
  return parts.map((each) => `${each.name} ${wordsOf(each)}`.trim()).join("; ");
}
