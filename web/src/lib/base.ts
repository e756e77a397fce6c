/** The address that the page is served below, without a slash at its end. `<base>` names it, read once at the start. */
export const origin = new URL(".", document.baseURI).href.replace(/\/$/, "");
export const basePath = new URL(origin).pathname.replace(/\/$/, "") || "/";
