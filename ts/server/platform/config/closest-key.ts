/** Suggests the setting that a mistyped key was meant to be. */
import { SETTING_KEYS, type SettingKey } from './settings.ts';

/** Undefined when nothing is near: more than a third of the key would have to change. */
export function closestKey(key: string): SettingKey | undefined {
  const wanted = key.slice(0, 80);
  const lastPart = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
  const ranked = SETTING_KEYS.map((known) => ({
    known,
    distance: Math.min(editDistance(wanted, known), lastPart(wanted) === lastPart(known) ? 1 : Number.POSITIVE_INFINITY),
  })).sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(2, wanted.length / 3) ? best.known : undefined;
}

/** Levenshtein's distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
