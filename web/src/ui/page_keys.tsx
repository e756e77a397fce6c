import { useNavigate } from "@tanstack/react-router";
import { Keyboard } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./icon_button";
import { useKeys } from "./keys";
import styles from "./keys.module.css";
import { KeysDialog } from "./keys_dialog";

const NOTE_MS = 4_000;

/** Handles the keys of every screen, and shows the button that lists those of the current one. */
export function PageKeys() {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [note, setNote] = useState("");
  useEffect(() => {
    if (note === "") return;
    const timer = setTimeout(() => setNote(""), NOTE_MS);
    return () => clearTimeout(timer);
  }, [note]);
  const copyLink = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      setNote("Link copied");
    } catch {
      setNote("The browser refused: copy the address itself");
    }
  };
  useKeys("On every screen", {
    "?": { does: "list the keys", act: () => setOpen(true) },
    "/": {
      does: "go to the filter or search",
      act: () => filter()?.focus(),
      isUsable: () => filter() !== null,
    },
    ".": { does: "go to the actions", act: () => action()?.focus(), isUsable: () => action() !== undefined },
    j: { does: "go to the next row", act: () => goToRow(1), isUsable: hasRows },
    k: { does: "go to the previous row", act: () => goToRow(-1), isUsable: hasRows },
    c: { does: "copy a link to what is shown", act: () => void copyLink() },
    "g r": { does: "go to runs", act: () => void navigate({ to: "/runs" }) },
    "g d": { does: "go to definitions", act: () => void navigate({ to: "/definitions" }) },
    "g e": { does: "go to experiments", act: () => void navigate({ to: "/experiments" }) },
    "g c": { does: "go to compare", act: () => void navigate({ to: "/compare" }) },
    "g q": { does: "go to queue", act: () => void navigate({ to: "/queue" }) },
    "g s": { does: "go to settings", act: () => void navigate({ to: "/settings" }) },
  });
  return (
    <>
      <span role="status" className={styles.note}>
        {note}
      </span>
      <IconButton label="Shortcuts" icon={Keyboard} act={() => setOpen(true)} className={styles.button} />
      {isOpen && <KeysDialog close={() => setOpen(false)} />}
    </>
  );
}

const FIELDS = [
  "main search input[type='search']",
  "main input[type='search']",
  "main search :is(select, input)",
];

function filter(): HTMLElement | null {
  for (const each of FIELDS) {
    const field = document.querySelector<HTMLElement>(`${each}:not(:disabled)`);
    if (field) return field;
  }
  return null;
}

/** Returns the first action of the row that has the focus, or of what was opened last, or of the screen. */
function action(): HTMLElement | undefined {
  const row = document.activeElement?.closest("main tr");
  const places = [row, ...[...document.querySelectorAll("main [data-actions]")].reverse()];
  for (const place of places) {
    const found = place?.querySelector<HTMLElement>("button:not(:disabled), a[href], input:not(:disabled)");
    if (found && (place !== row || found.tagName === "BUTTON")) return found;
  }
  return undefined;
}

function rowLinks(): HTMLElement[] {
  const links = [...document.querySelectorAll("main tbody tr")].map((row) => row.querySelector("a"));
  return links.filter((link) => link !== null);
}

function hasRows(): boolean {
  return rowLinks().length > 0;
}

function goToRow(direction: 1 | -1): void {
  const links = rowLinks();
  const row = document.activeElement?.closest("tr");
  const at = links.findIndex((link) => row?.contains(link));
  const to = at >= 0 ? at + direction : direction === 1 ? 0 : links.length - 1;
  links[to]?.focus();
}
