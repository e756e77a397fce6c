interface Part {
  readonly type: string;
  readonly mediaType?: string | null;
  readonly width?: number | null;
  readonly height?: number | null;
}

const MEDIA_TYPES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
/** An image that unpacks to more takes hundreds of megabytes of the browser's memory. */
const MAX_PIXELS = 50_000_000;
const MAX_WIDTH = 480;
const MAX_HEIGHT = 320;

/** Tells whether a part is an image that browsers draw without running anything in it. */
export function isDrawn({ type, mediaType, width, height }: Part): boolean {
  return (
    type === "image" &&
    typeof mediaType === "string" &&
    MEDIA_TYPES.has(mediaType) &&
    (width ?? 0) * (height ?? 0) <= MAX_PIXELS
  );
}

/** Returns the size in CSS pixels, with its proportions and never enlarged; null if its size is unknown. */
export function drawnSize({ width, height }: Part): { width: number; height: number } | null {
  if (!width || !height || width < 0 || height < 0) return null;
  const scale = Math.min(1, MAX_WIDTH / width, MAX_HEIGHT / height);
  const scaled = (length: number) => Math.max(1, Math.round(length * scale));
  return { width: scaled(width), height: scaled(height) };
}

/**
 * Tells whether an address is one of the stack: of the page itself, or of the bucket, which the page function names.
 */
export function isOwnAddress(address: string, own: string, named: string): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, protocol } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") return false;
  return origin === own || named.split(" ").includes(origin);
}
