import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { deleteLabel, labelsOfProbeQuery, saveLabel } from "../../api/labels";
import { SaveLabel } from "../../api/limits";
import { sessionQuery } from "../../api/queries";
import { useCanWrite } from "../../api/role";
import { transcriptQuery } from "../../api/tables";
import type { Label } from "../../api/types";
import { visible } from "../../lib/format";
import { choicesOf, type LabelValue, labelWord } from "../../lib/labelling";
import { Field } from "../../ui/field";
import { useKeys } from "../../ui/keys";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import styles from "./answers.module.css";

const CRITERION = "result";

interface ReviewProps {
  runId: string;
  index: number;
}

/** Takes a label and a comment. The judge's verdict is in sight, so the label does not count in its accuracy. */
export function Review({ runId, index }: ReviewProps) {
  const canWrite = useCanWrite();
  const query = useQuery({ ...labelsOfProbeQuery(runId, index, CRITERION), enabled: canWrite });
  const round = useQuery(transcriptQuery(runId, index)).data?.retryRound;
  if (!canWrite) return null;
  if (query.isError) return <Failure error={query.error} what="Labels" retry={() => void query.refetch()} />;
  if (!query.data || round === undefined) return null;
  return <Panel runId={runId} probeId={`${runId}-${index}`} round={round} labels={query.data} />;
}

interface PanelProps {
  runId: string;
  probeId: string;
  /** The retry round of the shown answer; labels of another round are about an earlier answer. */
  round: number;
  labels: readonly Label[];
}

function Panel({ runId, probeId, round, labels }: PanelProps) {
  const client = useQueryClient();
  const noteId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const me = useQuery(sessionQuery).data?.labeller;
  const isOwn = (each: Label) => each.labeller === me && each.retryRound === round;
  const own = labels.find(isOwn);
  const [text, setText] = useState<string>();
  const note = text ?? own?.note ?? "";
  const save = useMutation({
    // Without a value, the comment leaves an earlier label as it is.
    mutationFn: async (value: LabelValue | null) => {
      const body = { criterion: CRITERION, value, note: note.trim() || null, verdictVisible: true };
      if (value === null && body.note === null) await deleteLabel(probeId, CRITERION);
      else await saveLabel(probeId, body);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["run", runId, "labels"] }),
  });
  const isIdle = () => !save.isPending;
  const saveNote = () => {
    if (note.trim() !== (own?.note ?? "")) save.mutate(own?.value ?? null);
  };
  const choices = choicesOf(CRITERION);
  useKeys("Review", {
    ...Object.fromEntries(
      choices.map(({ key, value }) => [
        key,
        { does: `label as ${labelWord(value)}`, act: () => save.mutate(value), isUsable: isIdle },
      ]),
    ),
    m: { does: "write a comment", act: () => field.current?.focus() },
  });
  const others = labels.filter((each) => !isOwn(each));
  return (
    <section className={styles.review} aria-label="Review" data-screen-only>
      <div className={styles.bar}>
        {choices.map(({ key, value, word }) => (
          <button
            key={key}
            type="button"
            aria-keyshortcuts={key}
            aria-pressed={own?.value === value}
            disabled={save.isPending}
            onClick={() => save.mutate(value)}
          >
            {word} <kbd>{key}</kbd>
          </button>
        ))}
        <Field label="Comment" id={noteId}>
          <textarea
            id={noteId}
            ref={field}
            aria-keyshortcuts="m"
            rows={1}
            maxLength={SaveLabel.note.maxLength}
            value={note}
            onChange={(event) => setText(event.target.value)}
            onBlur={saveNote}
            onKeyDown={(event) => {
              if (event.key === "Escape") event.currentTarget.blur();
            }}
          />
        </Field>
      </div>
      <p role="status" className={page.note}>
        {save.isSuccess && "Saved. "}
        {others.map((each) => (
          <span key={`${each.labeller} ${each.retryRound}`} className={page.line}>
            {visible(each.labeller)}
            {each.retryRound !== round && ", on an earlier answer"}: {saidIn(each)}
          </span>
        ))}
      </p>
      {save.isError && <Failure error={save.error} what="The label was not saved" />}
    </section>
  );
}

function saidIn({ value, note }: Label): string {
  return [value !== null && labelWord(value), note !== null && visible(note)].filter(Boolean).join(", ");
}
