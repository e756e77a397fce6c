import { Field } from "./field";

export interface ChosenFile {
  readonly name: string;
  readonly text: string;
}

interface Props {
  label: string;
  id: string;
  accept: string;
  maxBytes: number;
  isMultiple?: boolean;
  note?: string;
  error: string | null;
  choose: (files: readonly ChosenFile[], error: string | null) => void;
}

/** Reads the text of files, up to a size above which the API refuses them; returns why they cannot be read. */
export async function readFiles(
  files: readonly File[],
  maxBytes: number,
): Promise<[files: readonly ChosenFile[], error: string | null]> {
  if (files.reduce((sum, file) => sum + file.size, 0) > maxBytes)
    return [[], `At most ${Math.floor(maxBytes / 1_000_000)} MB`];
  try {
    return [
      await Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() }))),
      null,
    ];
  } catch {
    return [[], "The file could not be read"];
  }
}

export function FileField({ label, id, accept, maxBytes, isMultiple = false, note, error, choose }: Props) {
  const read = async (list: FileList | null) => choose(...(await readFiles([...(list ?? [])], maxBytes)));
  return (
    <Field label={label} id={id} error={error} note={note}>
      <input
        id={id}
        type="file"
        accept={accept}
        multiple={isMultiple}
        aria-describedby={error ? `${id}-error` : undefined}
        onChange={(event) => void read(event.target.files)}
      />
    </Field>
  );
}
