import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useLayoutEffect, useState } from "react";
import {
  deleteLabel,
  labelSetQuery,
  pendingItemsQuery,
  readLabelledItems,
  revealVerdict,
  saveLabel,
} from "../../api/labels";
import type { LabelSet, Schemas } from "../../api/types";
import { visible } from "../../lib/format";
import {
  currentItem,
  EMPTY_QUEUE,
  isVerdict,
  type LabelValue,
  labelled,
  labelWord,
  type Queue,
  undone,
  unlabelledCount,
  withEarlier,
  withLabel,
  withPending,
} from "../../lib/labelling";

/** Further transcripts are read when fewer than these are left. */
const LEAST_AHEAD = 5;

export type RevealedVerdict = Schemas["RevealedVerdict"];

/** Asks the API for a change, and returns what shows it. */
type Work = () => Promise<() => void>;

/** Holds the transcripts that a person labels one after the other, and changes their labels. */
export function useLabelling(runId: string, set: LabelSet) {
  const client = useQueryClient();
  const [queue, setQueue] = useState<Queue>(EMPTY_QUEUE);
  const [notes, setNotes] = useState<Readonly<Record<string, string>>>({});
  const [verdicts, setVerdicts] = useState<Readonly<Record<string, RevealedVerdict>>>({});
  const [isEarlierRead, setEarlierRead] = useState(false);
  const [said, say] = useState("");
  const pending = useQuery(pendingItemsQuery(runId, set.id));
  const read = pending.data?.items;
  // Before the first picture, which would else say that nothing is left.
  useLayoutEffect(() => {
    if (read) setQueue((old) => withPending(old, read));
  }, [read]);
  const change = useMutation({
    mutationFn: (work: Work) => work(),
    // Keys act again before the progress is read.
    onSettled: () => {
      void client.invalidateQueries({ queryKey: labelSetQuery(runId, set.id).queryKey, exact: true });
    },
  });
  // What is shown changes together with `isPending`, so that a key that follows is not ignored.
  const carryOut = (work: Work) => change.mutate(work, { onSuccess: (show) => show() });
  const item = currentItem(queue);
  const noteOf = (probeId: string, stored: string | null | undefined) => notes[probeId] ?? stored ?? "";
  const note = item ? noteOf(item.probeId, item.label?.note) : "";

  const give = (value: LabelValue) => {
    if (!item) return;
    const { probeId } = item;
    carryOut(async () => {
      const body = { criterion: set.criterion, value, note: note.trim() || null, labelSetId: set.id };
      const next = labelled(queue, probeId, await saveLabel(probeId, body));
      return () => {
        setQueue(next);
        if (unlabelledCount(next) < LEAST_AHEAD) void pending.refetch();
        const following = currentItem(next);
        const word = `Labelled: ${labelWord(value)}.`;
        const name = following && following.probeId !== probeId ? ` Next: ${nameOf(following)}.` : "";
        say(`${word}${name}`);
      };
    });
  };
  /** Stores a note that was written after the label. */
  const saveNote = () => {
    const label = item?.label;
    if (!item || !label || note.trim() === (label.note ?? "")) return;
    carryOut(async () => {
      const { criterion, value } = label;
      const body = { criterion, value, note: note.trim() || null, labelSetId: set.id };
      const saved = await saveLabel(item.probeId, body);
      return () => {
        setQueue((old) => withLabel(old, item.probeId, saved));
        say("Note saved.");
      };
    });
  };
  const undo = () => {
    const last = queue.given.at(-1);
    if (!last) return;
    const { probeId, before } = last;
    carryOut(async () => {
      // A comment alone would leave the value as it is.
      if (!isVerdict(before)) await deleteLabel(probeId, set.criterion);
      const body = before && (isVerdict(before) || before.note !== null) && { ...before, labelSetId: set.id };
      const restored = body ? await saveLabel(probeId, onlyLabel(body)) : null;
      const next = undone(queue, restored);
      return () => {
        setQueue(next);
        const shown = currentItem(next);
        say(shown ? `Undone: ${nameOf(shown)}.` : "Undone.");
      };
    });
  };
  const reveal = () => {
    if (!item || !isVerdict(item.label)) return;
    carryOut(async () => {
      const revealed = await revealVerdict(item.probeId, set.criterion);
      return () => setVerdicts((old) => ({ ...old, [item.probeId]: revealed }));
    });
  };
  const goTo = (at: number) => {
    setQueue((old) => ({ ...old, at }));
    say("");
  };
  const goBack = () => {
    if (queue.at > 0) return goTo(queue.at - 1);
    if (isEarlierRead) return say("There is no earlier transcript.");
    carryOut(async () => {
      const earlier = withEarlier(queue, await readLabelledItems(runId, set.id));
      return () => {
        setEarlierRead(true);
        setQueue(earlier);
        say(earlier === queue ? "There is no earlier transcript." : "");
      };
    });
  };
  const goOn = () => {
    if (queue.at + 1 < queue.items.length) goTo(queue.at + 1);
    else say("There is no further transcript.");
  };
  return {
    item,
    note,
    said,
    pending,
    verdict: item && verdicts[item.probeId],
    error: change.error,
    isBusy: change.isPending,
    isDone: unlabelledCount(queue) === 0,
    canUndo: queue.given.length > 0,
    write: (text: string) => item && setNotes((old) => ({ ...old, [item.probeId]: text })),
    give,
    saveNote,
    undo,
    reveal,
    goBack,
    goOn,
  };
}

export type LabellingState = ReturnType<typeof useLabelling>;

function onlyLabel({ criterion, value, note, labelSetId }: Schemas["Label"]) {
  return { criterion, value, note, labelSetId };
}

export function nameOf(item: { scenarioName: string | null; scenarioId: string }): string {
  return visible(item.scenarioName ?? item.scenarioId);
}
