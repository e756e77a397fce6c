export interface Issuer {
  readonly address: string;
  readonly clientId: string;
}

function content(name: string): string {
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? "";
}

function readIssuer(): Issuer | null {
  const [address, clientId] = [content("oidc-issuer"), content("oidc-client-id")];
  return address && clientId && URL.canParse(address) ? { address, clientId } : null;
}

export const issuer = readIssuer();
