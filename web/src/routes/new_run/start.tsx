import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { ApiError, type Schemas } from "../../api/client";
import type { Estimate } from "../../api/queries";
import { needsConfirmation } from "../../lib/budget";
import { formatUsd } from "../../lib/format";
import { forgetForm, keyOf } from "../../ui/kept";
import { Failure } from "../../ui/states";
import { ConfirmCost } from "./confirm";

interface Startable {
  confirmedUsd?: number | null;
}

interface StartProps<T extends Startable> {
  body: T | null;
  budget: number | null;
  estimate: Estimate | undefined;
  /** Starts the run once for the key. */
  send: (body: T, key: string) => Promise<Schemas["RunStarted"]>;
  /** Opens what is looked at first; the run without it. */
  show?: (runId: string) => Promise<void>;
  /** Of the form, under which its fields are kept. */
  form: string;
}

/** Starts the run, after the question whether it may cost more than its budget. */
export function Start<T extends Startable>({ body, budget, estimate, send, show, form }: StartProps<T>) {
  const navigate = useNavigate();
  const [asked, ask] = useState<Estimate | null>(null);
  const [isChanged, setChanged] = useState(false);
  const start = useMutation({
    // A second click, a reload, or an answer that was lost starts nothing twice.
    mutationFn: (input: T) => send(input, keyOf(form, input)),
    onSuccess: ({ run: { id } }) => {
      const shown = show ? show(id) : navigate({ to: "/runs/$id", params: { id } });
      return shown.finally(() => forgetForm(form));
    },
    onError: (error, input) => {
      if (!(error instanceof ApiError) || error.estimate === null) return;
      setChanged(typeof input.confirmedUsd === "number");
      ask(error.estimate);
    },
    retry: (count, error) => count < 3 && error instanceof ApiError && error.isTransient,
  });
  const isSending = start.isPending || start.isSuccess;
  const isOver = needsConfirmation(budget, estimate?.usd);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!body || isSending) return;
    setChanged(false);
    if (isOver && estimate) ask(estimate);
    else start.mutate(body);
  };
  const confirm = () => {
    if (body && asked) start.mutate({ ...body, confirmedUsd: asked.usd.expected });
    ask(null);
  };
  const wasAsked = start.error instanceof ApiError && start.error.estimate !== null;
  return (
    <form onSubmit={submit}>
      <button type="submit" data-kind="primary" disabled={!body || isSending}>
        {isSending ? "Starting…" : isOver ? `Start, about ${formatUsd(estimate?.usd.expected)}…` : "Start"}
      </button>
      {asked && budget !== null && (
        <ConfirmCost
          estimate={asked}
          budget={budget}
          isChanged={isChanged}
          confirm={confirm}
          close={() => ask(null)}
        />
      )}
      {start.isError && !wasAsked && <Failure error={start.error} what="The run was not started" />}
    </form>
  );
}
