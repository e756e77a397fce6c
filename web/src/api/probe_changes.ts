type Listener = (runId: string, index: number) => void;

const listeners = new Set<Listener>();

export function probeChanged(runId: string, index: number): void {
  for (const each of listeners) each(runId, index);
}

export function onProbeChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
