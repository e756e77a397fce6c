import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { probeChanged } from "../../api/probe_changes";
import { correct, probeQuery } from "../../api/probes";
import { useCanWrite } from "../../api/role";
import type { Correction as Corrected, Transcript } from "../../api/types";
import { parseScore, SCORE_ERROR } from "../../lib/scores";
import { Dialog, DialogActions } from "../../ui/dialog";
import { useKeys } from "../../ui/keys";
import { Failure, Loading } from "../../ui/states";
import styles from "./transcript.module.css";

/** Lets users who may correct the result. */
export function Correction({ transcript }: { transcript: Transcript }) {
  const canWrite = useCanWrite();
  const [isOpen, open] = useState(false);
  useKeys("Result", {
    e: { does: "correct the result", act: () => open(true), isUsable: () => canWrite && !isOpen },
  });
  if (!canWrite) return null;
  return (
    <p className={styles.correct} data-screen-only>
      <button type="button" aria-keyshortcuts="e" onClick={() => open(true)}>
        {transcript.corrected ? "Change the correction…" : "Correct the result…"}
      </button>
      {isOpen && <CorrectionDialog transcript={transcript} close={() => open(false)} />}
    </p>
  );
}

function CorrectionDialog({ transcript, close }: { transcript: Transcript; close: () => void }) {
  const probe = useQuery({ ...probeQuery(transcript.id), staleTime: 0 });
  return (
    <Dialog title="Correct the result" close={close}>
      {probe.isPending && <Loading what="the current result" rows={2} />}
      {probe.isError && (
        <Failure error={probe.error} what="The current result" retry={() => void probe.refetch()} />
      )}
      {probe.data && !probe.isFetching && (
        <CorrectionForm
          key={probe.data.etag}
          transcript={transcript}
          present={probe.data.value.result}
          etag={probe.data.etag}
          close={close}
        />
      )}
    </Dialog>
  );
}

interface FormProps {
  transcript: Transcript;
  present: Corrected | null;
  etag: string | null;
  close: () => void;
}

const MAX_REASON = 2_000;

function CorrectionForm({ transcript, present, etag, close }: FormProps) {
  const client = useQueryClient();
  const ids = useId();
  const [success, setSuccess] = useState<boolean | undefined>(present?.success);
  const [score, setScore] = useState(
    transcript.corrected && present?.score != null ? String(present.score) : "",
  );
  const [reason, setReason] = useState((transcript.corrected && present?.reason) || "");
  const parsed = parseScore(score);
  const save = useMutation({
    mutationFn: (result: Corrected | null) => correct(transcript.id, result, etag),
    onSuccess: async () => {
      probeChanged(transcript.runId, transcript.probeIndex);
      await Promise.all([
        client.invalidateQueries({ queryKey: ["run", transcript.runId] }),
        client.invalidateQueries({ queryKey: ["probe", transcript.id] }),
      ]);
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (success === undefined || parsed === undefined) return;
    save.mutate({ success, score: parsed, reason: reason.trim() || null });
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <fieldset>
        <legend>The conversation has</legend>
        {([true, false] as const).map((value) => (
          <label key={String(value)}>
            <input
              type="radio"
              name={`${ids}-success`}
              checked={success === value}
              onChange={() => setSuccess(value)}
            />
            {value ? "passed" : "failed"}
          </label>
        ))}
      </fieldset>
      <label>
        Score from 0 to 1, or nothing
        <input
          inputMode="decimal"
          size={8}
          value={score}
          aria-invalid={parsed === undefined}
          aria-describedby={parsed === undefined ? `${ids}-score` : undefined}
          onChange={(event) => setScore(event.target.value)}
        />
      </label>
      {parsed === undefined && (
        <small id={`${ids}-score`} className={styles.error}>
          {SCORE_ERROR}
        </small>
      )}
      <label>
        Reason
        <textarea
          rows={3}
          maxLength={MAX_REASON}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <p className={styles.note}>
        It counts in results and comparisons instead of what the judges found, which is kept.
      </p>
      {save.isError && <Failure error={save.error} what="The result was not corrected" />}
      <DialogActions>
        <button
          type="submit"
          data-kind="primary"
          disabled={success === undefined || parsed === undefined || save.isPending}
        >
          Save
        </button>
        {transcript.corrected && (
          <button type="button" disabled={save.isPending} onClick={() => save.mutate(null)}>
            Remove the correction
          </button>
        )}
        <button type="button" onClick={close}>
          Cancel
        </button>
      </DialogActions>
    </form>
  );
}
