import { type DragEvent, type ReactNode, useState } from "react";
import styles from "./scenario_table.module.css";

/** A file that was dropped. Each one has an id of its own, even if the same file is dropped twice. */
export interface DroppedFile {
  readonly id: string;
  readonly file: File;
}

interface Props {
  isUsable: boolean;
  children: (dropped: DroppedFile | undefined) => ReactNode;
}

const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes("Files");

/** Takes a file that is dropped on what it contains. */
export function DropFile({ isUsable, children }: Props) {
  const [dropped, setDropped] = useState<DroppedFile>();
  const [isOver, setOver] = useState(false);
  if (!isUsable) return children(undefined);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field for files does the same by keyboard
    <div
      className={styles.drop}
      data-over={isOver}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer.files[0];
        if (file) setDropped({ id: crypto.randomUUID(), file });
      }}
    >
      {children(dropped)}
    </div>
  );
}
