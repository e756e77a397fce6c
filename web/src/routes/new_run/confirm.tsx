import type { Estimate } from "../../api/queries";
import { formatUsd } from "../../lib/format";
import { Dialog, DialogActions } from "../../ui/dialog";

interface Props {
  estimate: Estimate;
  budget: number;
  /** Whether the estimate is another one than the one that was confirmed before. */
  isChanged: boolean;
  confirm: () => void;
  close: () => void;
}

/** A run that is expected to cost more than its budget pauses before its end: whether that is meant. */
export function ConfirmCost({ estimate, budget, isChanged, confirm, close }: Props) {
  const { usd } = estimate;
  return (
    <Dialog title="Start although the budget will not suffice?" close={close}>
      {isChanged && <p role="alert">The estimate has changed since you agreed to it.</p>}
      <p>
        The run is expected to cost {formatUsd(usd.expected)} ({formatUsd(usd.low)} to {formatUsd(usd.high)});
        its budget is {formatUsd(budget)}. It will pause when {formatUsd(budget)} are used up, and continue
        when the budget is raised.
      </p>
      <DialogActions>
        <button type="button" data-kind="primary" onClick={confirm}>
          Start with a budget of {formatUsd(budget)}
        </button>
        <button type="button" onClick={close}>
          Change the run
        </button>
      </DialogActions>
    </Dialog>
  );
}
