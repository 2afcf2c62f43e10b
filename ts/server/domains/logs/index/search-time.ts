/** Times of a search: ISO 8601, or so long before now. */
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** Unix milliseconds; undefined: it is no time. Without a zone it is UTC. */
export function searchTime(text: string, now: number): number | undefined {
  if (text === 'now') return now;
  const [, number, unit = ''] = /^-(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (number !== undefined) return now - Number(number) * (UNITS[unit] ?? 0);
  if (!DATE.test(text)) return undefined;
  const hasZone = /(?:Z|[+-]\d\d:\d\d)$/.test(text) || !text.includes('T');
  const ms = Date.parse(hasZone ? text : `${text}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
