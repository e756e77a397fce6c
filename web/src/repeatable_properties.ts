/** Properties are tested with the same examples each time, so that a change cannot fail by chance. */
import fc from "fast-check";

fc.configureGlobal({ seed: 1 });
