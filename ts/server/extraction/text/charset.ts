/** Bytes to text, whatever their encoding. What the file declares is tried first, then what its bytes show. */
import { scoreDecoding } from './charset-score.ts';

/** Encodings without a mark of their own, the likelier first: of equal scores the first counts. */
const candidates = [
  'windows-1252',
  'windows-1251',
  'windows-1250',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
  'koi8-r',
  'ibm866',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
] as const;

const SAMPLE_BYTES = 64 * 1024;

/** @param declared the encoding that a header or the document itself names. */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  return new TextDecoder(detectCharset(bytes, declared)).decode(bytes);
}

/** A name that TextDecoder knows. */
export function detectCharset(bytes: Uint8Array, declared?: string): string {
  const marked = byteOrderMark(bytes);
  if (marked !== undefined) return marked;
  const named = declared === undefined ? undefined : knownLabel(declared);
  // Pages that say UTF-8 and are something else are common; other declarations can only be believed.
  if (named !== undefined && named !== 'utf-8' && decodes(bytes, named)) return named;
  if (decodes(bytes, 'utf-8')) return wideEncoding(bytes) ?? 'utf-8';
  return wideEncoding(bytes) ?? likeliest(sampleOf(bytes));
}

function byteOrderMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return undefined;
}

export function knownLabel(label: string): string | undefined {
  try {
    return new TextDecoder(label.trim().slice(0, 40)).encoding;
  } catch {
    return undefined;
  }
}

function decodes(bytes: Uint8Array, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** UTF-16 without a mark: of Western text every other byte is 0. */
function wideEncoding(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, SAMPLE_BYTES & ~1);
  let nEven = 0;
  let nOdd = 0;
  for (let i = 0; i + 1 < sample.length; i += 2) {
    if (sample[i] === 0) nEven++;
    if (sample[i + 1] === 0) nOdd++;
  }
  const nPairs = sample.length / 2;
  if (nPairs < 2) return undefined;
  if (nOdd > nPairs * 0.3 && nEven < nPairs * 0.05) return 'utf-16le';
  if (nEven > nPairs * 0.3 && nOdd < nPairs * 0.05) return 'utf-16be';
  return undefined;
}

function likeliest(sample: Uint8Array): string {
  let best = { encoding: 'windows-1252', score: Number.NEGATIVE_INFINITY };
  for (const encoding of candidates) {
    const text = decodeSample(sample, encoding);
    const score = text === undefined ? Number.NEGATIVE_INFINITY : scoreDecoding(text, encoding);
    if (score > best.score) best = { encoding, score };
  }
  return best.encoding;
}

/** Only what is near other bytes than ASCII tells encodings apart, so a long file is sampled from its first such byte. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte > 0x7f);
  const from = Math.max(0, first - 256, first < 0 ? 0 : bytes.lastIndexOf(0x0a, first));
  return bytes.subarray(from, from + SAMPLE_BYTES);
}

/** The end of a sample may lie inside a character; it is therefore decoded as a stream. */
function decodeSample(sample: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true });
  } catch {
    return undefined;
  }
}
