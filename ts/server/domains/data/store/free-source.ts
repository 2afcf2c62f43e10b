/** Two files of one name are two documents, so the second one gets a source of its own: `report (2).pdf`. */
import { MAX_SOURCE } from '../limits.ts';

export async function freeSource(wanted: string, isFree: (source: string) => Promise<boolean>): Promise<string> {
  if (await isFree(wanted)) return wanted;
  const ending = /\.[A-Za-z0-9]{1,16}$/.exec(wanted)?.[0] ?? '';
  const name = wanted.slice(0, Math.min(wanted.length, MAX_SOURCE - 30) - ending.length);
  for (let n = 2; ; n = n < 20 ? n + 1 : n * 2) {
    const source = `${name} (${n})${ending}`;
    if (await isFree(source)) return source;
  }
}
