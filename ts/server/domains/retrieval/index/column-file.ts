/**
 * A file of numbers in columns: a header, a description in JSON, and the columns, each with a checksum. It is written beside and takes its
 * name when it is whole and on the disk. Nothing of it is used before all of it was checked.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { moveIntoPlace } from '../../../platform/files/atomic-file.ts';

export type Column = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;
type ColumnType = 'u8' | 'u32' | 'f64';

interface Description {
  readonly about: unknown;
  readonly columns: readonly { readonly type: ColumnType; readonly length: number; readonly crc: number }[];
}

interface ColumnFile {
  /** Whatever was given to be written. */
  readonly about: unknown;
  readonly columns: readonly Column[];
}

/** The file is of another kind, or damaged. */
export class ColumnFileError extends Error {
  override readonly name = 'ColumnFileError';
}

const MAGIC = Buffer.from('SVCTERM\n');
const VERSION = 1;
const HEADER_BYTES = 24;
const MOST_DESCRIPTION_BYTES = 64 * 1024 * 1024;
/** Of one read or write. */
const STEP_BYTES = 16 * 1024 * 1024;

/** Rejects with what the system says. */
export async function writeColumnFile(path: string, about: unknown, columns: readonly Column[]): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    const sums: number[] = [];
    for (const column of columns) sums.push(await checksumOf(bytesOf(column)));
    const described = columns.map((column, i) => ({ type: typeOf(column), length: column.length, crc: sums[i] ?? 0 }));
    const description = Buffer.from(JSON.stringify({ about, columns: described } satisfies Description));
    await writeAll(file, headerOf(description));
    await writeAll(file, description);
    for (const column of columns) await writeAll(file, bytesOf(column));
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await file.close();
  await moveIntoPlace(temporary, path);
}

/** Undefined: there is none. Throws ColumnFileError, and what the system says. */
export async function readColumnFile(path: string): Promise<ColumnFile | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return await readAll(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

async function readAll(file: FileHandle, size: number): Promise<ColumnFile> {
  const header = await readBytes(file, new Uint8Array(HEADER_BYTES));
  const view = new DataView(header.buffer);
  if (!MAGIC.equals(header.subarray(0, MAGIC.length))) throw new ColumnFileError('it is of another kind');
  if (view.getUint32(8, true) !== VERSION) throw new ColumnFileError('it is of another version');
  const descriptionBytes = view.getUint32(12, true);
  if (descriptionBytes > Math.min(MOST_DESCRIPTION_BYTES, size - HEADER_BYTES)) throw new ColumnFileError('it is damaged');
  const text = await readBytes(file, new Uint8Array(descriptionBytes));
  if (crc32(text) !== view.getUint32(16, true)) throw new ColumnFileError('it is damaged');
  const { about, columns } = descriptionOf(text);
  const whole = columns.reduce((sum, { type, length }) => sum + length * WIDTHS[type], HEADER_BYTES + descriptionBytes);
  // Before memory is taken for what the file only says of itself.
  if (whole !== size) throw new ColumnFileError('it is shorter or longer than it says');
  const read: Column[] = [];
  for (const { type, length, crc } of columns) {
    const column = new COLUMNS[type](length);
    await readBytes(file, bytesOf(column));
    if ((await checksumOf(bytesOf(column))) !== crc) throw new ColumnFileError('it is damaged');
    read.push(column);
  }
  return { about, columns: read };
}

const WIDTHS: Readonly<Record<ColumnType, number>> = { u8: 1, u32: 4, f64: 8 };
const COLUMNS = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array } as const;

function headerOf(description: Uint8Array): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  header.set(MAGIC);
  const view = new DataView(header.buffer);
  view.setUint32(8, VERSION, true);
  view.setUint32(12, description.length, true);
  view.setUint32(16, crc32(description), true);
  return header;
}

function descriptionOf(text: Uint8Array): Description {
  let given: Partial<Description>;
  try {
    given = JSON.parse(Buffer.from(text).toString()) as Partial<Description>;
  } catch {
    throw new ColumnFileError('it is damaged');
  }
  const { about, columns } = given ?? {};
  const isRight =
    Array.isArray(columns) &&
    columns.every(({ type, length }) => type in WIDTHS && Number.isSafeInteger(length) && length >= 0 && length < 2 ** 32);
  if (!isRight) throw new ColumnFileError('it is damaged');
  return { about, columns };
}

function typeOf(column: Column): ColumnType {
  if (column instanceof Float64Array) return 'f64';
  return column instanceof Uint32Array ? 'u32' : 'u8';
}

function bytesOf(column: Column): Uint8Array<ArrayBuffer> {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

/** In steps, between which other work goes on. */
async function checksumOf(bytes: Uint8Array): Promise<number> {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    sum = crc32(bytes.subarray(at, at + STEP_BYTES), sum);
    if (bytes.length > STEP_BYTES) await new Promise(setImmediate);
  }
  return sum;
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, Math.min(STEP_BYTES, bytes.length - at));
    at += bytesWritten;
  }
}

/** Fills them. */
async function readBytes(file: FileHandle, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, Math.min(STEP_BYTES, bytes.length - at));
    if (bytesRead === 0) throw new ColumnFileError('it is shorter than it says');
    at += bytesRead;
  }
  return bytes;
}
