/** The list of a ZIP file's parts, which stands at its end. */
import { damaged, ExtractionRefusal } from '../extraction-refusal.ts';
import type { RandomAccess } from '../random-access.ts';
import type { ZipEntry } from './zip-entry.ts';

const END_RECORD = 0x06054b50;
const END_BYTES = 22;
const ZIP64_LOCATOR = 0x07064b50;
const ZIP64_LOCATOR_BYTES = 20;
const ZIP64_END_RECORD = 0x06064b50;
const DIRECTORY_RECORD = 0x02014b50;
const DIRECTORY_RECORD_BYTES = 46;
const MAX_COMMENT_BYTES = 65_535;
/** Means "see the ZIP64 record". */
const IN_ZIP64 = 0xffffffff;
const METHODS: Readonly<Record<number, ZipEntry['method']>> = { 0: 'stored', 8: 'deflated' };

interface DirectoryPlace {
  offset: number;
  sizeBytes: number;
  nEntries: number;
}

/** By name; of parts with the same name the first counts, as two programs could otherwise see two documents in one file. */
export function readCentralDirectory(source: RandomAccess, maxEntries: number): Map<string, ZipEntry> {
  const { offset, sizeBytes, nEntries } = findDirectory(source);
  if (nEntries > maxEntries)
    throw new ExtractionRefusal('expands_too_much', `The archive has ${nEntries} parts, and at most ${maxEntries} are read.`);
  if (offset + sizeBytes > source.sizeBytes) throw damaged('The list of the archive’s parts lies outside of the file.');
  const bytes = source.read(offset, sizeBytes);
  const entries = new Map<string, ZipEntry>();
  let packedBytes = 0;
  let at = 0;
  for (let i = 0; i < nEntries; i++) {
    const { entry, end } = readRecord(bytes, at);
    at = end;
    packedBytes += entry.packedBytes;
    // Parts that overlap each other unpack to far more than the file could hold.
    if (packedBytes > source.sizeBytes)
      throw new ExtractionRefusal('expands_too_much', 'The parts of the archive overlap each other.');
    if (!entries.has(entry.name)) entries.set(entry.name, entry);
  }
  return entries;
}

function findDirectory(source: RandomAccess): DirectoryPlace {
  const tail = Math.min(source.sizeBytes, END_BYTES + MAX_COMMENT_BYTES);
  const bytes = source.read(source.sizeBytes - tail, tail);
  const view = viewOf(bytes);
  for (let at = bytes.length - END_BYTES; at >= 0; at--) {
    if (view.getUint32(at, true) !== END_RECORD) continue;
    const place = {
      nEntries: view.getUint16(at + 10, true),
      sizeBytes: view.getUint32(at + 12, true),
      offset: view.getUint32(at + 16, true),
    };
    const needsZip64 = place.offset === IN_ZIP64 || place.sizeBytes === IN_ZIP64 || place.nEntries === 0xffff;
    return needsZip64 ? findZip64(source, source.sizeBytes - tail + at) : place;
  }
  throw damaged('The file is cut off: the list of its parts is missing.');
}

function findZip64(source: RandomAccess, endRecordOffset: number): DirectoryPlace {
  const locator = source.read(Math.max(0, endRecordOffset - ZIP64_LOCATOR_BYTES), ZIP64_LOCATOR_BYTES);
  if (locator.length < ZIP64_LOCATOR_BYTES || viewOf(locator).getUint32(0, true) !== ZIP64_LOCATOR)
    throw damaged('The archive’s ZIP64 record is missing.');
  const record = source.read(wide(viewOf(locator), 8), 56);
  if (record.length < 56 || viewOf(record).getUint32(0, true) !== ZIP64_END_RECORD)
    throw damaged('The archive’s ZIP64 record is damaged.');
  const view = viewOf(record);
  return { nEntries: wide(view, 32), sizeBytes: wide(view, 40), offset: wide(view, 48) };
}

function readRecord(bytes: Uint8Array, at: number): { entry: ZipEntry; end: number } {
  const record = viewOf(bytes);
  if (at + DIRECTORY_RECORD_BYTES > bytes.length || record.getUint32(at, true) !== DIRECTORY_RECORD)
    throw damaged('The list of the archive’s parts is damaged.');
  const nameEnd = at + DIRECTORY_RECORD_BYTES + record.getUint16(at + 28, true);
  const extraEnd = nameEnd + record.getUint16(at + 30, true);
  const end = extraEnd + record.getUint16(at + 32, true);
  if (end > bytes.length) throw damaged('The list of the archive’s parts is damaged.');
  const method = METHODS[record.getUint16(at + 10, true)];
  const flags = record.getUint16(at + 8, true);
  if (method === undefined && (flags & 1) === 0)
    throw new ExtractionRefusal('unsupported_file_kind', 'The archive is packed in a way that is not read.');
  const sizes = wideSizes(bytes.subarray(nameEnd, extraEnd), [
    record.getUint32(at + 24, true),
    record.getUint32(at + 20, true),
    record.getUint32(at + 42, true),
  ]);
  const name = new TextDecoder().decode(bytes.subarray(at + DIRECTORY_RECORD_BYTES, nameEnd));
  const isEncrypted = (flags & 1) !== 0;
  const [sizeBytes = 0, packedBytes = 0, headerOffset = 0] = sizes;
  return {
    entry: {
      name,
      method: method ?? 'stored',
      isEncrypted,
      crc: record.getUint32(at + 16, true),
      sizeBytes,
      packedBytes,
      headerOffset,
    },
    end,
  };
}

/** Values that do not fit into 32 bits stand in the extra field 1, in this order and without the others (APPNOTE section 4.5.3). */
function wideSizes(extra: Uint8Array, values: readonly number[]): number[] {
  if (!values.includes(IN_ZIP64)) return [...values];
  const view = viewOf(extra);
  for (let at = 0; at + 4 <= extra.length; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    let next = at + 4;
    return values.map((value) => {
      if (value !== IN_ZIP64) return value;
      if (next + 8 > extra.length) throw damaged('The list of the archive’s parts is damaged.');
      next += 8;
      return wide(view, next - 8);
    });
  }
  throw damaged('The list of the archive’s parts is damaged.');
}

function wide(view: DataView, at: number): number {
  const value = view.getBigUint64(at, true);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged('The archive names a place that no file has.');
  return Number(value);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
