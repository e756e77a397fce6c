import { createContext, type RefObject } from "react";

/** It is the element in which a conversation is scrolled; null where the window is. */
export const ScrollElement = createContext<RefObject<HTMLElement | null> | null>(null);
