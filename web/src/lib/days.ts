const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Returns a day of the address, such as `2026-11-20`, if it is one. */
export function parseDay(text: string | undefined): string | undefined {
  return text && DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

/** Returns when a day begins where the reader is, or the day that follows it. */
export function startOf(day: string, following = 0): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + following).toISOString();
}
