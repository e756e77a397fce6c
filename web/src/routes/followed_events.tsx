import { createContext } from "react";
import type { RunEvent } from "../api/types";

/** It has the stored events of a run that is followed; none of one that is over. */
export const FollowedEvents = createContext<readonly RunEvent[]>([]);
