/** One thing at a time, and each a while after the one before: what a watched screen asks for. */
export class Pace {
  private free = 0;

  constructor(
    private readonly everyMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** In milliseconds, until the next one may begin, which is then taken. */
  take(): number {
    const now = this.now();
    const at = Math.max(now, this.free);
    this.free = at + this.everyMs;
    return at - now;
  }
}
