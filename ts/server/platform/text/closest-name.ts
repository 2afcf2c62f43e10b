/** Longer words from outside are not worth the quadratic time. */
const maxLength = 80;

/** The candidate that a mistyped word most likely meant; undefined when none is near. */
export function closestName(text: string, candidates: readonly string[]): string | undefined {
  const word = text.slice(0, maxLength);
  const allowed = Math.max(1, Math.floor(word.length / 3));
  const [best] = candidates
    .map((name) => ({ name, distance: editDistance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= allowed || (word.length >= 3 && name.startsWith(word)))
    .sort((a, b) => a.distance - b.distance);
  return best?.name;
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const at = (r: number, c: number) => (r === i ? row[c] : rows[r]?.[c]) ?? Number.POSITIVE_INFINITY;
      const swap =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + cost, swap));
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}
