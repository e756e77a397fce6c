import { BUDGET_ERROR, parseBudget } from "../../lib/budget";
import { NumberField } from "../../ui/number_field";
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
      <NumberField
        label="Budget in USD (optional)"
        id="budget"
        error={budget === undefined ? BUDGET_ERROR : null}
        note="What the run may spend in all. It pauses when this is used up, and loses nothing."
        isAmount
        size={14}
        placeholder="no limit"
        value={value}
        change={change}
      />
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
