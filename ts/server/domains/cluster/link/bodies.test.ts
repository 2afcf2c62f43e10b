/** Bodies between nodes: those of each wire version are read, those of later schemas too, and damaged ones are refused within their size. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { random } from '../../../../../test/test-support/seed.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { FlatFault, readFlat } from '../../../platform/wire/flat-reader.ts';
import { writeFlat } from '../../../platform/wire/flat-writer.ts';
import {
  Frame,
  readFrame,
  readMap,
  readReport,
  readVectors,
  toldOf,
  writeFrame,
  writeHeartbeat,
  writeMap,
  writeReport,
  writeVectors,
} from './bodies.ts';
import { decode, encode } from './frames.ts';
import { samples } from './test-support/frame-samples.ts';

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'test-support/recorded-bodies.json'), 'utf8'));
const first = (name: string) => Buffer.from(recorded.first[name] as string);
const second = (name: string) => Buffer.from(recorded.second[name] as string, 'base64');
const { report, told, entries, vectors, file } = samples();

t.test('bodies of the first wire version are read, and written as that reads them', async (t) => {
  t.strictSame(readReport(first('report')), report);
  t.equal(writeReport(report, 1), recorded.first.report, 'a node of that version is answered so');
  t.equal(readFrame(first('vectors')), undefined, 'JSON is no frame, with blanks before it too');
  t.strictSame(decode(first('vectors')), { value: vectors });
  t.strictSame(decode(first('read')), { value: file.bytes });
  t.match(decode(first('heartbeat')), { method: 'beat', arguments: [{ id: told.id, load: told.load }] });
});

t.test('bodies of the second wire version are read', async (t) => {
  t.strictSame(readReport(second('report')), report);
  const heartbeat = readFrame(second('heartbeat'))?.heartbeat;
  t.strictSame(heartbeat && toldOf(heartbeat), told);
  const map = readFrame(second('map'));
  t.strictSame(map && readMap(map), entries);
  const read = readFrame(second('vectors'))?.vectors;
  t.strictSame(read && readVectors(read), vectors, 'with blanks before the frame');
  for (const name of ['read', 'write']) t.same(readFrame(second(name))?.piece, file);
});

t.test('what is written now is read as it was', async (t) => {
  t.strictSame(readReport(writeReport(report, 2) as Buffer), report);
  const { primary: _, replica: __, ...plain } = report;
  t.strictSame(readReport(writeReport(plain, 2) as Buffer), plain, 'of a node that is neither a primary nor a standby');
  t.strictSame(readMap(readFrame(writeMap([])) as never), []);
  t.throws(() => readReport(Buffer.from('')), SyntaxError);
  t.throws(() => readFrame(Buffer.from('\0SVCL')), FlatFault);
});

/** Every table with members that a later version could add. */
function later(schema: object): Record<string, unknown> {
  const members = Object.entries(schema).map(([name, member]) => {
    if (Array.isArray(member)) return [name, [later(member[0])]];
    return [name, typeof member === 'string' ? member : later(member)];
  });
  return { ...Object.fromEntries(members), laterText: 'string', laterTable: { deep: '[string]' }, laterNumber: 'ulong' };
}

function withLater(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withLater);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withLater(member)]);
  return { ...Object.fromEntries(members), laterText: 'x', laterTable: { deep: ['y'] }, laterNumber: 9 };
}

const allFrames = { report: second('report'), heartbeat: second('heartbeat'), map: second('map'), vectors: second('vectors') };

t.test('members of later versions are not looked at', async (t) => {
  for (const [name, body] of Object.entries({ ...allFrames, piece: second('read') })) {
    const frame = readFrame(body);
    const newer = writeFlat(later(Frame) as never, 'SVCL', withLater(frame) as never);
    t.ok(newer.length > body.length);
    t.same(readFlat(Frame, 'SVCL', newer), frame, name);
  }
});

/** The texts, elements and bytes of a value. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + 1 + sizeOf(each), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + sizeOf(each), 0);
}

const pick = (n: number): number => Math.floor(random.next() * n);

/** Changes some bytes or words, cuts, or repeats a part. */
function damage(frame: Buffer): Buffer {
  const damaged = Buffer.from(frame);
  const kind = pick(8);
  if (kind === 0) return damaged.subarray(0, pick(frame.length));
  if (kind === 1) damaged.copyWithin(pick(frame.length), pick(frame.length), pick(frame.length));
  for (let n = pick(4); n >= 0; n--) {
    if (kind < 5) damaged[1 + pick(frame.length - 1)] = pick(256);
    else
      damaged.writeUInt32LE(
        [0, 1, 4, 0x7fffffff, 0xffffffff, frame.length, pick(frame.length)][pick(7)] ?? 0,
        1 + pick(frame.length - 4),
      );
  }
  return damaged;
}

t.test('damaged frames are refused or are frames, and give no more than their size', async (t) => {
  const frames = [...Object.values(allFrames), second('read')].map((body) => body.subarray(body.indexOf(0)));
  const n = iterations(20_000, 10_000_000, 'SVC_TEST_FRAMES');
  let nRefused = 0;
  let longestMs = 0;
  for (let i = 0; i < n; i++) {
    const damaged = damage(frames[i % frames.length] as Buffer);
    const startedAt = performance.now();
    try {
      const frame = readFrame(damaged);
      if (sizeOf(frame) > damaged.length) t.fail(`${sizeOf(frame)} of ${damaged.length} bytes: ${damaged.toString('base64')}`);
    } catch (error) {
      nRefused += 1;
      const isRefusal = error instanceof FlatFault || (error instanceof SyntaxError && damaged[0] !== 0);
      if (!isRefusal) t.fail(`${String(error)}: ${damaged.toString('base64')}`);
    }
    longestMs = Math.max(longestMs, performance.now() - startedAt);
  }
  t.comment(`${nRefused} of ${n} were refused, the slowest took ${longestMs.toFixed(1)} ms`);
  t.ok(nRefused > n / 10, `${nRefused} of ${n}`);
});

/** The names of the schema's file. */
function snake(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return [...(value as Uint8Array)];
  if (Array.isArray(value)) return value.map(snake);
  if (typeof value !== 'object' || value === null) return value;
  const named = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(named.map(([name, member]) => [name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), snake(member)]));
}

const hasFlatc = spawnSync('flatc', ['--version']).status === 0;
t.test(
  'flatc reads and writes the same by the file of the schema',
  { skip: hasFlatc ? false : 'flatc is not installed' },
  async (t) => {
    const folder = newFolder(t);
    const schema = join(import.meta.dirname, '../../../platform/wire/cluster.fbs');
    const drafts = {
      report: writeReport(report, 2) as Buffer,
      heartbeat: writeHeartbeat(told),
      map: writeMap(entries),
      vectors: writeVectors(vectors),
      piece: writeFrame({ piece: file }),
    };
    for (const [name, body] of Object.entries(drafts)) {
      const [json, bin] = [join(folder, `${name}.json`), join(folder, `${name}.bin`)];
      writeFileSync(bin, body.subarray(1));
      execFileSync('flatc', ['--json', '--strict-json', '--defaults-json', '--raw-binary', '-o', folder, schema, '--', bin]);
      t.match(JSON.parse(readFileSync(json, 'utf8')), snake({ [name]: (readFrame(body) as never)[name] }), name);
      execFileSync('flatc', ['--binary', '-o', folder, schema, json]);
      t.same(readFrame(Buffer.concat([Buffer.from([0]), readFileSync(bin)])), readFrame(body), `${name} of flatc`);
    }
  },
);

t.test('many vectors take little more than their numbers', async (t) => {
  const many = {
    vectors: Array.from({ length: 64 }, () => Float32Array.from({ length: 1024 }, () => random.next() - 0.5)),
    nTokens: Array(64).fill(9),
  };
  const body = writeVectors(many);
  t.ok(body.length < 64 * 1024 * 4 * 1.02, `${body.length} bytes`);
  t.ok(Buffer.byteLength(encode({ value: many })) > 1.3 * body.length);
  t.strictSame(readVectors(readFrame(body)?.vectors as never), many);
});
