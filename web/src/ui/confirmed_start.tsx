import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../api/client";
import type { Estimate } from "../api/types";

import { refusalReason } from "../lib/budget";
import { visible } from "../lib/format";
import { Dialog, DialogActions } from "./dialog";

export interface Confirmable {
  confirmedUsd?: number | null;
}

interface Refusal {
  reason: string;
  estimate: Estimate;
}

/** Returns the refusal of a start that may cost more than a budget; null for every other error. */
export function refusalOf(error: Error | null): Refusal | null {
  if (!(error instanceof ApiError) || error.estimate === null) return null;
  return { reason: error.message, estimate: error.estimate };
}

/** Starts something, after the question whether it may cost more than a budget where the server asks. */
export function useConfirmedStart<T extends Confirmable, R>(
  send: (body: T) => Promise<R>,
  onSuccess: (result: R) => Promise<unknown>,
) {
  const start = useMutation({
    mutationFn: send,
    onSuccess,
    retry: (count, error) => count < 3 && error instanceof ApiError && error.isTransient,
  });
  const { error, variables } = start;
  const refusal = refusalOf(error);
  const question = refusal && variables && (
    <ConfirmCost
      refusal={refusal}
      isChanged={typeof variables.confirmedUsd === "number"}
      confirm={(confirmedUsd) => start.mutate({ ...variables, confirmedUsd })}
      close={start.reset}
    />
  );
  return {
    start: start.mutate,
    isSending: start.isPending,
    isStarted: start.isSuccess,
    question,
    error: refusal ? null : error,
  };
}

interface Props {
  refusal: Refusal;
  /** It is true if the estimate differs from the one that was confirmed before. */
  isChanged: boolean;
  confirm: (usd: number) => void;
  close: () => void;
}

/** Asks whether a run shall start that is expected to cost more than a budget, and would pause before its end. */
export function ConfirmCost({ refusal, isChanged, confirm, close }: Props) {
  return (
    <Dialog title="Start even though the budget is too small?" close={close}>
      {isChanged && <p role="alert">The estimate has changed since you agreed to it.</p>}
      <p>{visible(refusalReason(refusal.reason))}</p>
      <p>
        A paused run loses nothing. It continues when its budget is raised, or when the workspace has budget
        again.
      </p>
      <DialogActions>
        <button type="button" data-kind="primary" onClick={() => confirm(refusal.estimate.confirmableUsd)}>
          Start anyway
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </DialogActions>
    </Dialog>
  );
}
