/** Headers and footers that stand on most pages: they part sentences that go on over a page, and would be found for every page. */
import type { PageLine } from './page-line.ts';

const MIN_PAGES = 4;
const MIN_SHARE = 0.6;
/** Lines at either end of a page that are looked at. */
const N_OUTER = 2;

export function withoutRunningLines(pages: readonly PageLine[][]): PageLine[][] {
  if (pages.length < MIN_PAGES) return [...pages];
  const counts = new Map<string, number>();
  for (const lines of pages) for (const key of new Set(outerLines(lines).map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const isRunning = (line: PageLine) => (counts.get(keyOf(line)) ?? 0) >= pages.length * MIN_SHARE;
  return pages.map((lines) => {
    const running = new Set(outerLines(lines).filter(isRunning));
    // A page of nothing else keeps them: they may be its text.
    return running.size === lines.length ? lines : lines.filter((line) => !running.has(line));
  });
}

function outerLines(lines: readonly PageLine[]): PageLine[] {
  const sorted = [...lines].sort((p, q) => p.y - q.y);
  return [...sorted.slice(0, N_OUTER), ...sorted.slice(-N_OUTER)];
}

/** Page numbers differ from page to page; place and words do not. */
function keyOf({ y, cells }: PageLine): string {
  return `${Math.round(y / 4)} ${cells.join(' ').replace(/\d+/g, '#').slice(0, 200)}`;
}
