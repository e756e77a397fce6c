import { type ReactNode, useEffect, useId, useRef } from "react";
import styles from "./dialog.module.css";

interface Props {
  title: string;
  close: () => void;
  isWide?: boolean;
  children: ReactNode;
}

/** Asks a question that must be answered first. Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, close, isWide = false, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      className={styles.dialog}
      data-wide={isWide}
      aria-labelledby={heading}
      onCancel={close}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Shows the answers: the one that changes something first. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <p className={styles.actions}>{children}</p>;
}

interface SubmitProps {
  isDisabled: boolean;
  close: () => void;
  /** It names what the form does. */
  children: ReactNode;
}

/** Ends the form of a dialog: one button submits it, the other closes the dialog. */
export function SubmitActions({ isDisabled, close, children }: SubmitProps) {
  return (
    <DialogActions>
      <button type="submit" data-kind="primary" disabled={isDisabled}>
        {children}
      </button>
      <button type="button" onClick={close}>
        Cancel
      </button>
    </DialogActions>
  );
}
