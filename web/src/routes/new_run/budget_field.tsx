import { BUDGET_ERROR, parseBudget } from "../../lib/budget";
import { NumberField } from "../../ui/number_field";
import styles from "./new_run.module.css";

interface AmountProps {
  id?: string;
  note: string;
  problem?: string | undefined;
  value: string;
  change: (text: string) => void;
}

export function BudgetAmount({ id = "budget", note, problem, value, change }: AmountProps) {
  return (
    <NumberField
      label="Budget in USD (optional)"
      id={id}
      error={parseBudget(value) === undefined ? BUDGET_ERROR : problem}
      note={note}
      isAmount
      size={14}
      placeholder="no limit"
      value={value}
      change={change}
    />
  );
}

interface Props {
  value: string;
  change: (text: string) => void;
  /** If true, models without a known price are called, which the budget does not limit. */
  isUnlimited: boolean;
  allowUnpriced: boolean;
  setAllowUnpriced: (isAllowed: boolean) => void;
}

export function BudgetField({ value, change, isUnlimited, allowUnpriced, setAllowUnpriced }: Props) {
  return (
    <>
      <BudgetAmount
        note="What the run may spend in all. It pauses when this is used up, and loses nothing."
        value={value}
        change={change}
      />
      {typeof parseBudget(value) === "number" && isUnlimited && (
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
