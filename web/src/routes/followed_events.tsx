import { createContext } from "react";
import type { RunEvent } from "../api/types";

/** The stored events of a run that is followed, on its screens; none of one that is over. */
export const FollowedEvents = createContext<readonly RunEvent[]>([]);
