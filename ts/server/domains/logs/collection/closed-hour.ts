/** An hour that is over: what one copy lacks is put in from the other, and both get the same packed file. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { syncFolder } from '../../../platform/files/atomic-file.ts';
import { OPEN, PACKED } from './copy-files.ts';
import { addLines, type LineSum } from './followed-copies.ts';
import { FrameWriter, framesOf, readFrame, withFile } from './packed-frames.ts';

interface ClosedHour {
  /** Lines that were in one copy alone, by the copy that lacked them. */
  repaired: [number, number];
}

const UUID = /^\{"uuid":"([0-9A-F]{32})"/;
/** Uuids of so many lines are held at a time. */
const LINES_A_PASS = 1_000_000;
const READ_BYTES = 256 * 1024;

/** Packs an hour into both copies. Idempotent: a crash anywhere leaves what a second run needs. */
export async function closeHour(
  copies: readonly string[],
  id: string,
  sums: readonly (LineSum | undefined)[],
): Promise<ClosedHour> {
  const open = copies.map((copy) => join(copy, `${id}${OPEN}`));
  const packed = copies.map((copy) => join(copy, `${id}${PACKED}`));
  for (const path of open) await mkdir(dirname(path), { recursive: true });
  const read = await Promise.all(open.map((path) => sumOfFile(path)));
  // A copy that reads as it was written is right where the other one changed since.
  const trusted = read[0] === undefined || isChanged(read[0], sums[0]) ? 1 : 0;
  const before = (await Promise.all(packed.map(isThere))).flatMap((isIt, i) => (isIt ? [packed[i] as string] : []));
  const isSame = before.length === 0 && read[0]?.nLines === read[1]?.nLines && read[0]?.sum === read[1]?.sum;
  const temporary = packed.map((path) => `${path}.tmp`);
  const out = temporary[trusted] as string;
  const packer = await FrameWriter.open(out);
  let repaired: [number, number] = [0, 0];
  try {
    const opened = [trusted, 1 - trusted].filter((i) => read[i] !== undefined).map((i) => open[i] as string);
    if (isSame) for await (const line of linesOf(opened[0] as string)) await packer.add(line);
    else repaired = await merge([...opened, ...before], open, packer);
    await packer.end();
  } catch (error) {
    await packer.abandon();
    for (const path of temporary) await rm(path, { force: true });
    throw error;
  }
  await copyFile(out, temporary[1 - trusted] as string);
  await sync(temporary[1 - trusted] as string);
  for (const [i, path] of packed.entries()) await rename(temporary[i] as string, path);
  for (const path of packed) await syncFolder(dirname(path));
  for (const path of open) await rm(path, { force: true });
  return { repaired };
}

function isChanged(read: LineSum, grown: LineSum | undefined): boolean {
  return grown !== undefined && (grown.nLines !== read.nLines || grown.sum !== read.sum);
}

/** Packed files of an hour are the same in both copies; one that is damaged or gone is replaced. Returns the copy that was repaired. */
export async function repairPacked(copies: readonly string[], id: string): Promise<number | undefined> {
  const paths = copies.map((copy) => join(copy, `${id}${PACKED}`));
  const hashes = await Promise.all(paths.map((path) => hashOf(path)));
  if (hashes[0] === hashes[1]) return undefined;
  const isWhole = await Promise.all(paths.map((path) => isWholeFile(path)));
  const good = isWhole[0] && isWhole[1] ? await originalOf(paths, hashes) : isWhole.indexOf(true);
  if (good < 0) throw new Error(`no copy of ${id} is whole`);
  const bad = 1 - good;
  const temporary = `${paths[bad]}.tmp`;
  await mkdir(dirname(temporary), { recursive: true });
  await copyFile(paths[good] as string, temporary);
  await sync(temporary);
  await rename(temporary, paths[bad] as string);
  await syncFolder(dirname(temporary));
  return bad;
}

/** Some bits of a frame may change without a change of what it holds: the file that was written is the one that packing makes again. */
async function originalOf(paths: readonly string[], hashes: readonly (string | undefined)[]): Promise<number> {
  const again = `${paths[0]}.tmp`;
  const packer = await FrameWriter.open(again);
  try {
    await withFile(paths[0] as string, async (file) => {
      for await (const place of framesOf(file))
        for (const line of (await readFrame(file, place)).toString('latin1').split('\n').slice(0, -1)) await packer.add(line);
    });
    await packer.end();
    return Math.max(0, hashes.indexOf(await hashOf(again)));
  } catch (error) {
    await packer.abandon();
    throw error;
  } finally {
    await rm(again, { force: true });
  }
}

async function hashOf(path: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
    return hash.digest('hex');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The frames have checksums of what they hold, and none is cut. */
async function isWholeFile(path: string): Promise<boolean> {
  let nFrames = 0;
  const read = withFile(path, async (file) => {
    for await (const place of framesOf(file)) {
      await readFrame(file, place);
      nFrames += 1;
    }
  });
  return read.then(
    () => nFrames > 0,
    () => false,
  );
}

async function sumOfFile(path: string): Promise<LineSum | undefined> {
  if ((await stat(path).catch(() => undefined)) === undefined) return undefined;
  const sum: LineSum = { nLines: 0, sum: 0 };
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    const all = Buffer.concat([rest, chunk as Buffer]);
    const end = all.lastIndexOf(0x0a) + 1;
    if (end > 0) addLines(sum, all.subarray(0, end));
    rest = all.subarray(end);
  }
  if (rest.length > 0) addLines(sum, Buffer.concat([rest, Buffer.from('\n')]));
  return sum;
}

/** Every line of the sources once, in passes over uuids so that an hour of any size fits. Returns how many lines each of the open files lacked. */
async function merge(sources: readonly string[], open: readonly string[], target: FrameWriter): Promise<[number, number]> {
  let nLines = 0;
  for (const source of sources) for await (const _ of linesOf(source)) nLines++;
  const nPasses = Math.max(1, Math.ceil(nLines / LINES_A_PASS));
  const repaired: [number, number] = [0, 0];
  for (let pass = 0; pass < nPasses; pass++) {
    const isOfPass = (key: string): boolean => nPasses === 1 || passOf(key, nPasses) === pass;
    const usable = new Set<string>();
    const held = [new Set<string>(), new Set<string>()];
    for (const source of sources)
      for await (const line of linesOf(source)) {
        const key = keyOf(line);
        if (!isOfPass(key)) continue;
        if (isUsable(line)) usable.add(key);
        held[open.indexOf(source)]?.add(key);
      }
    const written = new Set<string>();
    for (const source of sources)
      for await (const line of linesOf(source)) {
        const key = keyOf(line);
        // A line that is no JSON any more is better in another source.
        if (!isOfPass(key) || written.has(key) || (!isUsable(line) && usable.has(key))) continue;
        written.add(key);
        for (const copy of [0, 1] as const) if (held[copy]?.has(key) !== true) repaired[copy]++;
        await target.add(line);
      }
  }
  return repaired;
}

/** A line without a uuid stands for itself. */
function keyOf(line: string): string {
  return UUID.exec(line)?.[1] ?? line;
}

function isUsable(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function passOf(key: string, nPasses: number): number {
  return createHash('md5').update(key).digest().readUInt32BE(0) % nPasses;
}

/** Lines as their bytes (latin1), whatever they are; only a newline ends one. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const file = createReadStream(path, { highWaterMark: READ_BYTES });
  const bytes = path.endsWith(PACKED) ? file.pipe(createZstdDecompress()) : file;
  let rest = '';
  for await (const chunk of bytes) {
    const lines = (rest + (chunk as Buffer).toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
