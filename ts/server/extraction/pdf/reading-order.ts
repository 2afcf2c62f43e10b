/**
 * Columns: where a page is parted by an empty strip with lines of text on both sides, the left side is read before the right one. What spans the
 * strip (a title, a wide table) parts the page into bands, and each band is read for itself. An empty space over
 * the whole width parts it too, so that a table below columns is none.
 */
import type { Segment } from './segment.ts';

/** Places at which a strip is looked for. */
const N_STRIPS = 96;
const MIN_LINES = 3;
/** Characters a line. Shorter ones side by side are cells of a table. */
const MIN_LINE_LENGTH = 18;
/** In font sizes. */
const SAME_LINE = 0.35;
const ROW_PITCH = 1.45;
const MAX_SPANNING_SHARE = 0.25;
const MAX_DEPTH = 10;
/** In font sizes: an empty space between lines at which the page is parted. */
const BAND_GAP = 1.8;

/** Groups of segments in reading order; within a group, lines go from top to bottom. */
export function readingOrder(segments: readonly Segment[], depth = 0): Segment[][] {
  const groups: Segment[][] = [];
  let plain: Segment[] = [];
  const endPlain = () => {
    if (plain.length > 0) groups.push(plain);
    plain = [];
  };
  for (const band of joinBands(splitBands(segments))) {
    const strip = depth < MAX_DEPTH ? findStrip(band) : undefined;
    if (strip === undefined) plain.push(...band);
    else {
      endPlain();
      groups.push(...orderColumns(band, strip, depth));
    }
  }
  endPlain();
  return groups;
}

/** Left of the strip, then right of it; what spans it stands between. */
function orderColumns(band: readonly Segment[], strip: number, depth: number): Segment[][] {
  const groups: Segment[][] = [];
  let part: Segment[] = [];
  const endPart = () => {
    groups.push(
      ...readingOrder(
        part.filter(({ right }) => right <= strip),
        depth + 1,
      ),
    );
    groups.push(
      ...readingOrder(
        part.filter(({ x }) => x >= strip),
        depth + 1,
      ),
    );
    part = [];
  };
  for (const segment of band) {
    if (segment.right <= strip || segment.x >= strip) part.push(segment);
    else {
      endPart();
      groups.push([segment]);
    }
  }
  endPart();
  return joinSingles(groups);
}

/** Parts of a page with an empty space over its whole width between them. */
function splitBands(segments: readonly Segment[]): Segment[][] {
  const bands: Segment[][] = [];
  let last: Segment | undefined;
  for (const segment of segments) {
    const isApart = last === undefined || segment.y - last.y > Math.max(last.size, segment.size) * BAND_GAP;
    if (isApart) bands.push([segment]);
    else bands.at(-1)?.push(segment);
    last = segment;
  }
  return bands;
}

/** Columns may have the ends of paragraphs side by side: bands that have columns at the same place are one. */
function joinBands(bands: readonly Segment[][]): Segment[][] {
  const joined: Segment[][] = [];
  for (const band of bands) {
    const last = joined.at(-1);
    if (last !== undefined && findStrip(last) !== undefined && goesOn(last, band)) last.push(...band);
    else joined.push([...band]);
  }
  return joined;
}

function goesOn(columns: readonly Segment[], band: readonly Segment[]): boolean {
  const strip = findStrip([...columns, ...band]);
  if (strip === undefined || band.some(({ x, right }) => x < strip && right > strip)) return false;
  const length = band.reduce((sum, { text }) => sum + shownLength(text), 0);
  return findStrip(band) !== undefined || length / band.length >= MIN_LINE_LENGTH;
}

/** Undefined: the text is one column. */
function findStrip(segments: readonly Segment[]): number | undefined {
  const left = Math.min(...range(segments, ({ x }) => x));
  const right = Math.max(...range(segments, (segment) => segment.right));
  let best: { x: number; nSpanning: number; balance: number } | undefined;
  for (let i = 1; i < N_STRIPS; i++) {
    const x = left + ((right - left) * i) / N_STRIPS;
    const before = segments.filter((segment) => segment.right <= x);
    const behind = segments.filter((segment) => segment.x >= x);
    const nSpanning = segments.length - before.length - behind.length;
    if (nSpanning > segments.length * MAX_SPANNING_SHARE || !isColumn(before) || !isColumn(behind)) continue;
    if (areRows(before, behind)) continue;
    const balance = Math.min(before.length, behind.length);
    if (best === undefined || nSpanning < best.nSpanning || (nSpanning === best.nSpanning && balance > best.balance))
      best = { x, nSpanning, balance };
  }
  return best?.x;
}

function isColumn(segments: readonly Segment[]): boolean {
  if (segments.length < MIN_LINES) return false;
  const nLines = baselinesOf(segments).length;
  const length = segments.reduce((sum, { text }) => sum + shownLength(text), 0);
  return nLines >= MIN_LINES && length / nLines >= MIN_LINE_LENGTH;
}

/** Both sides have their lines side by side and further apart than lines of text are: these are rows. */
function areRows(before: readonly Segment[], behind: readonly Segment[]): boolean {
  const [left, right] = [baselinesOf(before), baselinesOf(behind)];
  const [fewer, more] = left.length < right.length ? [left, right] : [right, left];
  const size = before[0]?.size ?? 0;
  const nShared = fewer.filter((y) => more.some((other) => Math.abs(other - y) <= size * SAME_LINE)).length;
  const gaps = fewer.slice(1).map((y, i) => y - (fewer[i] ?? 0));
  const median = gaps.sort((p, q) => p - q)[Math.floor(gaps.length / 2)] ?? 0;
  return nShared >= fewer.length * 0.8 && median > size * ROW_PITCH;
}

/** Segments come from top to bottom. */
function baselinesOf(segments: readonly Segment[]): number[] {
  const baselines: number[] = [];
  for (const { y, size } of segments) {
    const last = baselines.at(-1);
    if (last === undefined || y - last > size * SAME_LINE) baselines.push(y);
  }
  return baselines;
}

/** Chinese and Japanese characters are as wide as two others. */
function shownLength(text: string): number {
  return text.length + (text.match(/[\u3000-\u9fff\uf900-\ufaff\uff00-\uff60]/g)?.length ?? 0);
}

/** Not spread over arguments of one call: a page can have more segments than a call takes. */
function range(segments: readonly Segment[], value: (segment: Segment) => number): [number, number] {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const segment of segments) {
    least = Math.min(least, value(segment));
    most = Math.max(most, value(segment));
  }
  return [least, most];
}

/** Spanning lines that follow each other are one text. */
function joinSingles(groups: readonly Segment[][]): Segment[][] {
  const joined: Segment[][] = [];
  let isSingle = false;
  for (const group of groups) {
    if (group.length === 1 && isSingle) joined.at(-1)?.push(...group);
    else joined.push([...group]);
    isSingle = group.length === 1;
  }
  return joined;
}
