import { useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import type { Estimate, Schemas } from "../../api/types";

import { needsConfirmation } from "../../lib/budget";
import { formatUsd } from "../../lib/format";
import { type Confirmable, useConfirmedStart } from "../../ui/confirmed_start";
import { forgetForm, keyOf } from "../../ui/kept";
import { Failure } from "../../ui/states";

interface StartProps<T extends Confirmable> {
  body: T | null;
  budget: number | null;
  estimate: Estimate | undefined;
  /** It starts the run once for the key. */
  send: (body: T, key: string) => Promise<Schemas["RunStarted"]>;
  /** It names the form under which its fields are stored. */
  form: string;
}

/** Starts the run, after the question whether it may cost more than its budget. */
export function Start<T extends Confirmable>({ body, budget, estimate, send, form }: StartProps<T>) {
  const navigate = useNavigate();
  const { start, isSending, isStarted, question, error } = useConfirmedStart(
    // A second click, a reload, or an answer that was lost starts nothing twice.
    (input: T) => send(input, keyOf(form, input)),
    ({ run: { id } }) => navigate({ to: "/runs/$id", params: { id } }).finally(() => forgetForm(form)),
  );
  const isBusy = isSending || isStarted;
  const isOver = needsConfirmation(budget, estimate);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (body && !isBusy) start(body);
  };
  return (
    <form onSubmit={submit}>
      <button type="submit" data-kind="primary" disabled={!body || isBusy}>
        {isBusy ? "Starting…" : isOver ? `Start, about ${formatUsd(estimate?.confirmableUsd)}…` : "Start"}
      </button>
      {question}
      {error && <Failure error={error} what="The run was not started" />}
    </form>
  );
}
