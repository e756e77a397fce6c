import { useEffect, useRef, useState } from "react";
import { Dialog, DialogActions } from "./dialog";
import page from "./page.module.css";

const DONE_MS = 2_000;

interface Link {
  readonly copied: boolean;
  /** It is the address that the browser refused to copy. */
  readonly refused: string | null;
  readonly copy: (address: string) => void;
  readonly close: () => void;
}

export function useCopiedLink(): Link {
  const [copied, setCopied] = useState(false);
  const [refused, refuse] = useState<string | null>(null);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), DONE_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const write = async (address: string) => {
    try {
      await navigator.clipboard.writeText(address);
      setCopied(true);
    } catch {
      refuse(address);
    }
  };
  return { copied, refused, copy: (address) => void write(address), close: () => refuse(null) };
}

/** Says that a link was copied; where the browser refuses, it shows the link, selected. */
export function CopiedLink({ link: { copied, refused, close } }: { link: Link }) {
  return (
    <>
      <span role="status" className={copied ? page.note : "hidden-text"}>
        {copied && "Link copied"}
      </span>
      {refused !== null && (
        <Dialog title="Copy this link" close={close}>
          <SelectedLink address={refused} />
          <DialogActions>
            <button type="button" onClick={close}>
              Close
            </button>
          </DialogActions>
        </Dialog>
      )}
    </>
  );
}

function SelectedLink({ address }: { address: string }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.select();
  }, []);
  return <input ref={field} readOnly aria-label="Link" size={40} value={address} />;
}
