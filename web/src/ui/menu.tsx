import { Link, type LinkProps } from "@tanstack/react-router";
import {
  type KeyboardEvent as ReactKeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import styles from "./menu.module.css";

export type MenuItem = { readonly label: string } & (
  | { readonly act: () => void; readonly link?: never }
  | { readonly link: LinkProps; readonly act?: never }
);

interface Props {
  label: ReactNode;
  /** It names the menu for screen readers, where a screen has several. */
  of?: string;
  items: readonly MenuItem[];
}

const EDGE_PX = 8;
const ITEMS = "[role='menuitem']";

/** Shows a button that opens a menu of actions, by mouse and by the keys that the ARIA pattern names. */
export function Menu({ label, of, items }: Props) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const [opened, open] = useState<"first" | "last" | null>(null);
  const close = (hasFocus: boolean) => {
    open(null);
    if (hasFocus) button.current?.focus();
  };
  if (items.length === 0) return null;
  const press = (event: ReactKeyboardEvent) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    open(event.key === "ArrowDown" ? "first" : "last");
  };
  return (
    <span className={styles.place}>
      <button
        ref={button}
        type="button"
        aria-haspopup="menu"
        aria-expanded={opened !== null}
        aria-controls={opened === null ? undefined : id}
        onClick={() => (opened === null ? open("first") : close(true))}
        onKeyDown={press}
      >
        {label}
        {of && <span className="hidden-text"> {of}</span>}
      </button>
      {opened !== null && <Items id={id} items={items} begin={opened} button={button} close={close} />}
    </span>
  );
}

interface ItemsProps {
  id: string;
  items: readonly MenuItem[];
  begin: "first" | "last";
  button: RefObject<HTMLButtonElement | null>;
  close: (hasFocus: boolean) => void;
}

function Items({ id, items, begin, button, close }: ItemsProps) {
  const list = useRef<HTMLDivElement>(null);
  const closing = useRef(close);
  closing.current = close;
  useLayoutEffect(() => {
    const opener = button.current;
    if (!list.current || !opener) return;
    const fits = opener.getBoundingClientRect().right - list.current.offsetWidth >= EDGE_PX;
    list.current.dataset["align"] = fits ? "end" : "start";
  }, [button]);
  useEffect(() => {
    const found = elementsOf(list.current);
    found.at(begin === "first" ? 0 : -1)?.focus();
    list.current?.scrollIntoView({ block: "nearest" });
  }, [begin]);
  useEffect(() => {
    const leave = ({ target }: Event) => {
      if (!(target instanceof Node)) return;
      if (!list.current?.contains(target) && !button.current?.contains(target)) closing.current(false);
    };
    document.addEventListener("pointerdown", leave);
    return () => document.removeEventListener("pointerdown", leave);
  }, [button]);
  const press = (event: ReactKeyboardEvent) => {
    const found = elementsOf(list.current);
    const at = found.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Tab") return close(false);
    const labels = found.map((each) => each.textContent ?? "");
    const to = event.key === "Escape" ? at : nextPlace(event.key, at, labels);
    if (to === null) return;
    // The keys of the screen do not act in an open menu.
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") close(true);
    else found[to]?.focus();
  };
  return (
    <div ref={list} id={id} role="menu" tabIndex={-1} className={styles.items} onKeyDown={press}>
      {items.map(({ label, act, link }) =>
        link ? (
          <Link key={label} {...link} role="menuitem" tabIndex={-1} onClick={() => close(false)}>
            {label}
          </Link>
        ) : (
          <button
            key={label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => {
              close(true);
              act();
            }}
          >
            {label}
          </button>
        ),
      )}
    </div>
  );
}

function elementsOf(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>(ITEMS) ?? [])];
}

/** Returns the place of the item that a key leads to from another place; null if it leads to none. */
export function nextPlace(key: string, at: number, labels: readonly string[]): number | null {
  const count = labels.length;
  if (key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowUp") return at <= 0 ? count - 1 : at - 1;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (key.length !== 1 || key === " ") return null;
  const order = labels.map((_, step) => (at + 1 + step + count) % count);
  const found = order.find((place) => labels[place]?.toLowerCase().startsWith(key.toLowerCase()));
  return found ?? Math.max(at, 0);
}
