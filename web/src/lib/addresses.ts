/** Returns the host that a link leads to, or null for anything but an address of the web, which is not opened. */
export function hostOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { protocol, host } = new URL(address);
  return protocol === "https:" || protocol === "http:" ? host : null;
}
