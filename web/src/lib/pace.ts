/** Spaces the requests of a watched screen in time, one after the other. */
export class Pace {
  private free = 0;

  constructor(
    private readonly everyMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Returns the milliseconds until the next one may begin, and takes its place. */
  take(): number {
    const now = this.now();
    const at = Math.max(now, this.free);
    this.free = at + this.everyMs;
    return at - now;
  }
}
