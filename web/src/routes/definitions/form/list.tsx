import { type ReactNode, useEffect, useRef, useState } from "react";
import { assertionTitle } from "../../../lib/assertion_fields";
import { moved } from "../../../lib/content_fields";
import { type Content, isContent } from "../../../lib/definitions";
import type { Control } from "../../../lib/form_controls";
import { counted, visible } from "../../../lib/format";
import { useToggle } from "../../../ui/fold";
import page from "../../../ui/page.module.css";
import { useForm, useHasIssues, useIssues } from "./context";
import { type ControlProps, NestedControl } from "./control";
import styles from "./form.module.css";
import { GroupError } from "./group_error";

type Props = ControlProps<Extract<Control, { kind: "list" }>>;

/** Edits a list; the focus follows items that are added, removed and moved. */
export function ListControl({ control, path, value, label, note }: Props) {
  const { change } = useForm();
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const {
    itemName,
    max,
    fresh,
    item,
    isFolded = false,
    isUnordered = false,
    isLeftOutEmpty = false,
  } = control;
  const rows = useRows(items.length);
  const [said, say] = useState("");
  const element = useRef<HTMLFieldSetElement>(null);
  const focus = useLaterFocus(element);
  const error = useIssues(
    path,
    items.map((_, index) => String(index)),
  );
  const name = (index: number) => `${itemName} ${index + 1}`;
  const move = (from: number, to: number) => {
    rows.move(from, to);
    change(path, moved(items, from, to));
    say(`${capital(name(from))} is now ${name(to)}`);
    focus(to, from < to ? "down" : "up");
  };
  const remove = (index: number) => {
    rows.remove(index);
    const rest = [...items.slice(0, index), ...items.slice(index + 1)];
    change(path, rest.length === 0 && isLeftOutEmpty ? undefined : rest);
    say(`${capital(name(index))} was removed`);
    focus(Math.min(index, items.length - 2), "remove");
  };
  const add = () => {
    rows.add();
    change(path, [...items, structuredClone(fresh)]);
    say(`${capital(name(items.length))} was added`);
    focus(items.length, "field");
  };
  return (
    <fieldset ref={element} className={styles.list}>
      <legend>{label}</legend>
      {note && <p className={page.note}>{note}</p>}
      <GroupError error={error} />
      {items.length > 0 && (
        <ol>
          {items.map((each, index) => (
            <li key={rows.keys[index]} data-row={index}>
              <Item
                isFolded={isFolded}
                startsOpen={items.length <= 2 || rows.isNew(index)}
                title={titleOf(item, each, capital(name(index)))}
                path={`${path}.${index}`}
              >
                <NestedControl
                  control={item}
                  path={`${path}.${index}`}
                  value={each}
                  label={capital(name(index))}
                  isRequired
                />
              </Item>
              <div className={styles.actions}>
                {!isUnordered && (
                  <>
                    <button
                      type="button"
                      data-does="up"
                      disabled={index === 0}
                      aria-label={`Move ${name(index)} up`}
                      onClick={() => move(index, index - 1)}
                    >
                      Up
                    </button>
                    <button
                      type="button"
                      data-does="down"
                      disabled={index === items.length - 1}
                      aria-label={`Move ${name(index)} down`}
                      onClick={() => move(index, index + 1)}
                    >
                      Down
                    </button>
                  </>
                )}
                <button
                  type="button"
                  data-does="remove"
                  aria-label={`Remove ${name(index)}`}
                  onClick={() => remove(index)}
                >
                  Remove
                </button>
              </div>
            </li>
          ))}
        </ol>
      )}
      <button type="button" data-does="add" disabled={items.length >= max} onClick={add}>
        Add {/^[aeiou]/.test(itemName) ? "an" : "a"} {itemName}
      </button>
      {items.length >= max && <p className={page.note}>At most {counted(max, itemName)}</p>}
      <span className="hidden-text" role="status">
        {said}
      </span>
    </fieldset>
  );
}

interface ItemProps {
  isFolded: boolean;
  startsOpen: boolean;
  title: string;
  path: string;
  children: ReactNode;
}

function Item({ isFolded, startsOpen, title, path, children }: ItemProps) {
  const [isOpen, toggle] = useToggle(startsOpen);
  const hasIssues = useHasIssues(path);
  if (!isFolded) return <div>{children}</div>;
  const isShown = isOpen || hasIssues;
  return (
    <details className={styles.fold} open={isShown} onToggle={toggle}>
      <summary>{visible(title)}</summary>
      {isShown && children}
    </details>
  );
}

function titleOf(control: Control, item: unknown, name: string): string {
  const content: Content = isContent(item) ? item : {};
  const title =
    control.kind === "assertion"
      ? assertionTitle(item)
      : [content["id"], content["name"], content["role"]].find(
          (each) => typeof each === "string" && each !== "",
        );
  return title ? `${name}: ${title}` : name;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns keys by which rows keep their typed text while they move. */
function useRows(length: number) {
  const state = useRef({ keys: [] as number[], next: 0, added: new Set<number>() }).current;
  while (state.keys.length < length) state.keys.push(state.next++);
  state.keys.length = length;
  return {
    keys: state.keys,
    isNew: (index: number) => state.added.has(state.keys[index] ?? -1),
    move: (from: number, to: number) => {
      state.keys = moved(state.keys, from, to);
    },
    remove: (index: number) => {
      state.keys = state.keys.filter((_, each) => each !== index);
    },
    add: () => {
      state.added.add(state.next);
      state.keys = [...state.keys, state.next++];
    },
  };
}

type Does = "up" | "down" | "remove" | "field";

/** Sets the focus once the rows have changed. */
function useLaterFocus(element: { current: HTMLElement | null }) {
  const wanted = useRef<{ row: number; does: Does } | null>(null);
  useEffect(() => {
    if (wanted.current === null || element.current === null) return;
    const { row, does } = wanted.current;
    wanted.current = null;
    const found = element.current.querySelector(`:scope > ol > [data-row="${row}"]`);
    const actions = `:scope > div:last-child > [data-does="${does}"]:enabled`;
    const target =
      does === "field"
        ? found?.querySelector("input, textarea, select")
        : (found?.querySelector(actions) ?? found?.querySelector(":scope > div:last-child > :enabled"));
    const add = element.current.querySelector(':scope > [data-does="add"]');
    if (target instanceof HTMLElement) target.focus();
    else if (add instanceof HTMLElement) add.focus();
  });
  return (row: number, does: Does) => {
    wanted.current = { row, does };
  };
}
