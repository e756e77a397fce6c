import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { ApiError, api, read } from "../api/client";
import { ExpandRun } from "../api/limits";
import type { Run } from "../api/types";

import { counted, formatUsd } from "../lib/format";
import { parseWhole } from "../lib/forms";
import { Dialog, SubmitActions } from "../ui/dialog";
import { Field } from "../ui/field";
import { wholeNumberError } from "../ui/number_field";
import { Failure } from "../ui/states";

/** Adds scenarios to a sampled run: those that it has keep their outcomes. */
export function Expand({ run }: { run: Run }) {
  const client = useQueryClient();
  const [isAsking, ask] = useState(false);
  const [text, setText] = useState(String(ExpandRun.samplePercentage.max));
  const [key] = useState(() => crypto.randomUUID());
  const id = useId();
  const bounds = { min: run.config.samplePercentage + 1, max: ExpandRun.samplePercentage.max };
  const percentage = parseWhole(text, bounds);
  const expand = useMutation({
    mutationFn: (body: { samplePercentage: number; confirmedUsd?: number }) =>
      read(
        api.POST("/v1/runs/{run_id}/expand", {
          params: { path: { run_id: run.id }, header: { "Idempotency-Key": key } },
          body,
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ["run", run.id] }),
  });
  // It is set where the expected cost is more than the rest of a budget.
  const estimate = expand.error instanceof ApiError ? expand.error.estimate : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof percentage === "number")
      expand.mutate({
        samplePercentage: percentage,
        ...(estimate && { confirmedUsd: estimate.confirmableUsd }),
      });
  };
  return (
    <>
      <button type="button" onClick={() => ask(true)}>
        Expand…
      </button>
      {isAsking && (
        <Dialog title="Expand the sample?" close={() => ask(false)}>
          <form onSubmit={submit}>
            <p>
              The run has {run.config.samplePercentage}% of {counted(run.scenarioTotal, "scenario")}. Only the
              conversations about further ones are held.
            </p>
            <Field
              label="Share of scenarios, in percent"
              id={id}
              error={typeof percentage === "number" ? null : wholeNumberError(bounds)}
            >
              <input
                id={id}
                inputMode="numeric"
                size={6}
                aria-invalid={typeof percentage !== "number"}
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  expand.reset();
                }}
              />
            </Field>
            {estimate && (
              <p role="alert">
                This is expected to cost {formatUsd(estimate.usd.expected)}, more than is left of a budget:
                the run may be paused before its end.
              </p>
            )}
            {expand.isError && !estimate && <Failure error={expand.error} what="The run was not expanded" />}
            <SubmitActions
              isDisabled={typeof percentage !== "number" || expand.isPending || expand.isSuccess}
              close={() => ask(false)}
            >
              {estimate ? "Expand all the same" : "Expand"}
            </SubmitActions>
          </form>
        </Dialog>
      )}
    </>
  );
}
