import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { fileQuery } from "../api/files";
import { hostOf } from "../lib/addresses";
import { fileText } from "../lib/conversation_text";
import { visible } from "../lib/format";
import { drawnSize, isDrawn, isOwnAddress } from "../lib/images";
import styles from "./file_part.module.css";
import { useSeen } from "./seen";
import { Failure } from "./states";

export interface Part {
  readonly type: string;
  readonly fileId?: string | null;
  readonly name?: string | null;
  readonly mediaType?: string | null;
  readonly size?: number | null;
  readonly width?: number | null;
  readonly height?: number | null;
}

const named = document.querySelector('meta[name="image-origins"]')?.getAttribute("content") ?? "";

/** Shows an image once it is in sight, or a document: what it is, and where it can be read for a few minutes. */
export function FilePart({ part }: { part: Part }) {
  const element = useRef<HTMLDivElement>(null);
  const isSeen = useSeen(element);
  const [isWanted, want] = useState(false);
  const [broken, setBroken] = useState<string | null>(null);
  const id = part.fileId ?? "";
  const mayBeDrawn = isDrawn(part);
  const query = useQuery({
    ...fileQuery(id),
    enabled: id !== "" && (isWanted || (mayBeDrawn && isSeen)),
  });
  const address = query.data?.downloadUrl;
  const host = address === undefined ? null : hostOf(address);
  const text = visible(fileText(part));
  const isShown =
    address !== undefined &&
    mayBeDrawn &&
    address !== broken &&
    isOwnAddress(address, location.origin, named);
  const ask = () => {
    want(true);
    if (query.isError) void query.refetch();
  };
  return (
    <div ref={element} className={styles.file}>
      {isShown && (
        <img
          src={address}
          alt={text}
          {...drawnSize(part)}
          data-file={id}
          decoding="async"
          onError={() => setBroken(address)}
        />
      )}
      {text}{" "}
      {id !== "" && !address && (
        <button type="button" disabled={query.isFetching} onClick={ask}>
          Get its address<span className="hidden-text"> {visible(part.name ?? id)}</span>
        </button>
      )}
      {address && host !== null && (
        <a href={address} target="_blank" rel="noopener noreferrer">
          Open it at {visible(host)}
        </a>
      )}
      {isWanted && query.isError && (
        <Failure error={query.error} what="The file" retry={() => void query.refetch()} />
      )}
    </div>
  );
}
