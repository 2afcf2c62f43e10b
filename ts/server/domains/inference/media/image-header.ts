/**
 * The size of an image by its header, so that pixels are counted before anything is decoded. Formats: PNG (W3C PNG, 11.2.2), JPEG
 * (ITU T.81, B.2.2), GIF89a (section 18), WebP (RFC 9649), AVIF (ISO/IEC 23008-12, 6.5.3).
 */
import { avifSize } from './avif-header.ts';
import { type ImageSize, tagAt } from './image-size.ts';

/** Parts that are looked at before a header says how large the image is. Files have some thousands; the event loop waits. */
const mostParts = 65_536;

/** Undefined where the bytes are no image of these formats, or end before they say how large it is. */
export function readImageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const size = sizeOf(view);
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    // A read behind the end.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function sizeOf(view: DataView): ImageSize | undefined {
  if (view.getUint32(0) === 0x89504e47) return { width: view.getUint32(16), height: view.getUint32(20) };
  if (view.getUint16(0) === 0xffd8) return jpegSize(view);
  if (tagAt(view, 0) === 'GIF8') return gifSize(view);
  if (tagAt(view, 0) === 'RIFF' && tagAt(view, 8) === 'WEBP') return webpSize(view);
  if (tagAt(view, 4) === 'ftyp') return avifSize(view);
  return undefined;
}

/** A frame may be larger than the screen that the header names, so the first frame counts too. */
function gifSize(view: DataView): ImageSize | undefined {
  const screen = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  const flags = view.getUint8(10);
  let at = 13 + (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0);
  for (let n = 0; view.getUint8(at) === 0x21; ) {
    at += 2;
    for (; view.getUint8(at) !== 0 && n < mostParts; n++) at += 1 + view.getUint8(at);
    if (++n > mostParts) return undefined;
    at++;
  }
  if (view.getUint8(at) !== 0x2c) return screen;
  const right = view.getUint16(at + 1, true) + view.getUint16(at + 5, true);
  const bottom = view.getUint16(at + 3, true) + view.getUint16(at + 7, true);
  return { width: Math.max(screen.width, right), height: Math.max(screen.height, bottom) };
}

/** SOF0 to SOF15 but for the three numbers that mean tables and arithmetic coding. */
function jpegSize(view: DataView): ImageSize | undefined {
  for (let at = 2, n = 0; n < mostParts; n++) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    // Entropy-coded data follows; a frame must have come before it.
    if (marker === 0xda || marker === 0xd9) return undefined;
    const hasLength = marker !== 0x01 && !(marker >= 0xd0 && marker <= 0xd7);
    at += 2 + (hasLength ? Math.max(2, view.getUint16(at + 2)) : 0);
  }
  return undefined;
}

function webpSize(view: DataView): ImageSize | undefined {
  switch (tagAt(view, 12)) {
    case 'VP8X':
      return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) };
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
    }
    default:
      return undefined;
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
