import { useId, useRef } from "react";
import { SaveLabel } from "../../api/limits";
import type { LabelSet } from "../../api/types";
import { visible } from "../../lib/format";
import { type Choice, choicesOf, isVerdict, labelWord, progressText, questionOf } from "../../lib/labelling";
import { Field } from "../../ui/field";
import { useAreKeysOn, useKeys } from "../../ui/keys";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import styles from "./labels.module.css";
import type { LabellingState, RevealedVerdict } from "./use_labelling";

/** Takes the label of the transcript beside it, by buttons or by single keys. */
export function LabelPanel({ set, state }: { set: LabelSet; state: LabellingState }) {
  const { item, isBusy } = state;
  const noteId = useId();
  const note = useRef<HTMLTextAreaElement>(null);
  const choices = choicesOf(set.criterion);
  const isReady = () => item !== undefined && !isBusy;
  const isLabelled = isVerdict(item?.label);
  const isReadable = item !== undefined && item.messages.length > 0;
  useKeys("Labelling", {
    ...Object.fromEntries(
      choices.map(({ key, value }) => [
        key,
        {
          does: `label as ${labelWord(value)}`,
          act: () => state.give(value),
          isUsable: () => isReady() && isReadable,
        },
      ]),
    ),
    m: { does: "write a note", act: () => note.current?.focus(), isUsable: () => item !== undefined },
    n: { does: "go to the next transcript", act: state.goOn, isUsable: isReady },
    p: { does: "go to the previous transcript", act: state.goBack, isUsable: () => !isBusy },
    u: {
      does: "undo the last label",
      act: state.undo,
      isUsable: () => state.canUndo && !isBusy,
    },
    v: {
      does: "show the judge's verdict",
      act: state.reveal,
      isUsable: () => isLabelled && !isBusy,
    },
  });
  return (
    <section className={styles.panel} aria-label="Label" data-actions data-screen-only>
      <Progress set={set} />
      {item && (
        <>
          <fieldset className={styles.row}>
            <legend>{visible(questionOf(set.criterion))}</legend>
            {choices.map((choice) => (
              <ChoiceButton
                key={choice.key}
                choice={choice}
                isChosen={item.label?.value === choice.value}
                isDisabled={isBusy || !isReadable}
                choose={() => state.give(choice.value)}
              />
            ))}
          </fieldset>
          <Field label="Note" id={noteId}>
            <textarea
              id={noteId}
              aria-keyshortcuts="m"
              ref={note}
              rows={1}
              maxLength={SaveLabel.note.maxLength}
              value={state.note}
              onChange={(event) => state.write(event.target.value)}
              onBlur={state.saveNote}
              onKeyDown={(event) => {
                if (event.key === "Escape") event.currentTarget.blur();
              }}
            />
          </Field>
        </>
      )}
      <div className={styles.row}>
        <button type="button" aria-keyshortcuts="p" disabled={isBusy} onClick={state.goBack}>
          Previous <Hint of="p" />
        </button>
        <button type="button" aria-keyshortcuts="n" disabled={isBusy || !item} onClick={state.goOn}>
          Next <Hint of="n" />
        </button>
        <button type="button" aria-keyshortcuts="u" disabled={isBusy || !state.canUndo} onClick={state.undo}>
          Undo <Hint of="u" />
        </button>
      </div>
      <p role="status" className={page.note}>
        {state.said}
        {state.isDone && item && " Nothing is left for you to label here."}
      </p>
      {isLabelled &&
        (state.verdict ? (
          <Verdict revealed={state.verdict} />
        ) : (
          <p className={page.note}>
            The judge's verdict is hidden.{" "}
            <button type="button" aria-keyshortcuts="v" disabled={isBusy} onClick={state.reveal}>
              Show the verdict <Hint of="v" />
            </button>
          </p>
        ))}
      {state.error !== null && <Failure error={state.error} what="The label was not changed" />}
    </section>
  );
}

interface ChoiceProps {
  choice: Choice;
  isChosen: boolean;
  isDisabled: boolean;
  choose: () => void;
}

function ChoiceButton({ choice, isChosen, isDisabled, choose }: ChoiceProps) {
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      aria-keyshortcuts={choice.key}
      disabled={isDisabled}
      data-value={choice.value}
      onClick={choose}
    >
      {choice.word} {choice.key !== choice.word && <Hint of={choice.key} />}
    </button>
  );
}

/** Names the key of a button, as long as single keys act. */
function Hint({ of }: { of: string }) {
  return useAreKeysOn() ? <kbd>{of}</kbd> : null;
}

function Verdict({ revealed: { label, verdict, reason } }: { revealed: RevealedVerdict }) {
  const isAgreed = verdict === label.value;
  return (
    <div role="status">
      <p>
        <strong>
          Judge: {verdict === null ? "could not decide" : labelWord(verdict)}
          {verdict !== null && (isAgreed ? ", as you" : `; you: ${labelWord(label.value)}`)}
        </strong>
      </p>
      {reason !== null && <p>{visible(reason)}</p>}
      <p className={page.note}>A later change of this label does not count in the judge's accuracy.</p>
    </div>
  );
}

function Progress({ set }: { set: LabelSet }) {
  const done = set.progress.labelled + set.progress.skipped;
  return (
    <p>
      <progress aria-label="Labelled transcripts" value={done} max={set.count} /> {progressText(set)}
    </p>
  );
}
