import type { LucideIcon } from "lucide-react";
import styles from "./icon_button.module.css";

interface Props {
  /** It names the button for screen readers, and appears under the pointer. */
  label: string;
  icon: LucideIcon;
  act: () => void;
  className?: string | undefined;
}

export function IconButton({ label, icon: Icon, act, className = "" }: Props) {
  return (
    <button
      type="button"
      className={`${styles.button} ${className}`}
      aria-label={label}
      title={label}
      onClick={act}
    >
      <Icon size={18} aria-hidden="true" />
    </button>
  );
}
