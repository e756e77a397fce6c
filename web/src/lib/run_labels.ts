import type { Schemas } from "../api/types";
import { areSameTags } from "./definition_tags";
import { parseTags } from "./forms";

type Metadata = Schemas["Run"]["metadata"];
interface Stored {
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
}

/** Has the fields of the form as they are typed. */
export interface RunLabels {
  readonly name: string;
  readonly tags: string;
  readonly note: string;
}

/** The entry of a run's metadata that the page shows and edits as the note. */
export const NOTE = "note";
/** The API's limit of a value of the metadata. */
export const MAX_NOTE = 500;

/** Returns the note of a run; null if there is none. */
export function noteOf({ metadata }: Pick<Stored, "metadata">): string | null {
  const note = metadata[NOTE];
  return note === undefined || note === "" ? null : String(note);
}

export function labelsOf(run: Stored): RunLabels {
  return { name: run.name ?? "", tags: run.tags.join(", "), note: noteOf(run) ?? "" };
}

/** Returns the request that changes what was typed anew; other entries of the metadata stay. */
export function labelChanges(run: Stored, { name, tags, note }: RunLabels): Schemas["UpdateRun"] {
  const typed = { name: name.trim() || null, tags: parseTags(tags), note: note.trim() || null };
  const { [NOTE]: _, ...others } = run.metadata;
  return {
    ...(typed.name !== run.name && { name: typed.name }),
    ...(!areSameTags(typed.tags, run.tags) && { tags: typed.tags }),
    ...(typed.note !== noteOf(run) && {
      metadata: typed.note === null ? others : { ...others, [NOTE]: typed.note },
    }),
  };
}
