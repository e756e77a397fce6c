/**
 * `<base>` names the address that the page is served below, without a slash at its end; it is read once at the start.
 */
export const origin = new URL(".", document.baseURI).href.replace(/\/$/, "");
export const basePath = new URL(origin).pathname.replace(/\/$/, "") || "/";
