/** The size of an AVIF image: the largest `ispe` property of its `meta` box (ISO/IEC 23008-12, 6.5.3). */
import { type ImageSize, tagAt } from './image-size.ts';

interface Box {
  type: string;
  /** The offset of its content. */
  begin: number;
  end: number;
}

/** An image has a handful; a file of many boxes is no reason to read on. */
const mostBoxes = 4096;
const brands = ['avif', 'avis'];

/** Throws RangeError where the file ends too early. */
export function avifSize(view: DataView): ImageSize | undefined {
  const file = { begin: 0, end: view.byteLength };
  const [type] = boxesIn(view, file);
  if (type?.type !== 'ftyp' || !namesAvif(view, type)) return undefined;
  const meta = find(view, file, 'meta');
  // A full box: version and flags come first.
  const properties = meta && find(view, { ...meta, begin: meta.begin + 4 }, 'iprp');
  const container = properties && find(view, properties, 'ipco');
  if (!container) return undefined;
  const extents = [...boxesIn(view, container)].filter((box) => box.type === 'ispe');
  const sizes = extents.map(({ begin }) => ({ width: view.getUint32(begin + 4), height: view.getUint32(begin + 8) }));
  return sizes.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
}

function namesAvif(view: DataView, { begin, end }: Box): boolean {
  for (let at = begin; at + 4 <= end && at < begin + 64; at += 4) if (brands.includes(tagAt(view, at))) return true;
  return false;
}

function find(view: DataView, within: Omit<Box, 'type'>, type: string): Box | undefined {
  for (const box of boxesIn(view, within)) if (box.type === type) return box;
  return undefined;
}

function* boxesIn(view: DataView, { begin, end }: Omit<Box, 'type'>): Generator<Box> {
  for (let at = begin, n = 0; at + 8 <= end && n < mostBoxes; n++) {
    const length = view.getUint32(at);
    const isLong = length === 1;
    const sizeBytes = isLong ? Number(view.getBigUint64(at + 8)) : length === 0 ? end - at : length;
    const head = isLong ? 16 : 8;
    if (sizeBytes < head || at + sizeBytes > end) return;
    yield { type: tagAt(view, at + 4), begin: at + head, end: at + sizeBytes };
    at += sizeBytes;
  }
}
