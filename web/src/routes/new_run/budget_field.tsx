import { parseBudget } from "../../lib/budget";
import { Field } from "../../ui/field";
import styles from "./new_run.module.css";

interface Props {
  value: string;
  change: (text: string) => void;
  /** Whether models without a known price are called, which the budget does not limit. */
  isUnlimited: boolean;
  allowUnpriced: boolean;
  setAllowUnpriced: (isAllowed: boolean) => void;
}

/** What a run may spend in all. */
export function BudgetField({ value, change, isUnlimited, allowUnpriced, setAllowUnpriced }: Props) {
  const budget = parseBudget(value);
  return (
    <>
      <Field
        label="Budget in USD (optional)"
        id="budget"
        error={budget === undefined ? "An amount such as 5 or 0.25, at most 1,000,000" : null}
        note="What the run may spend in all. It pauses when this is used up, and loses nothing."
      >
        <input
          id="budget"
          inputMode="decimal"
          size={14}
          placeholder="no limit"
          aria-invalid={budget === undefined}
          aria-describedby={budget === undefined ? "budget-error" : undefined}
          value={value}
          onChange={(event) => change(event.target.value)}
        />
      </Field>
      {typeof budget === "number" && isUnlimited && (
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={allowUnpriced}
            onChange={(event) => setAllowUnpriced(event.target.checked)}
          />
          Also call models without a known price; the budget does not limit them
        </label>
      )}
    </>
  );
}
