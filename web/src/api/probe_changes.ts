/** Tables of figures that are shown learn that a person has changed a conversation, such as by correcting it. */

type Listener = (runId: string, index: number) => void;

const listeners = new Set<Listener>();

export function probeChanged(runId: string, index: number): void {
  for (const each of listeners) each(runId, index);
}

/** Until the returned function is called. */
export function onProbeChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
