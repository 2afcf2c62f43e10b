/** Records between nodes are read as they were written, however they are cut, and damaged records end the answer. */
import t from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { random } from '../../../../../test/test-support/seed.ts';
import { type AnswerRecord, decode, encode, RecordReader, recordLine } from './frames.ts';

const int = (below: number): number => Math.floor(random.next() * below);

/** Some records, as bytes and as they are to be read. */
function someRecords(): { bytes: Buffer; records: unknown[] } {
  const lines: Buffer[] = [];
  const records: unknown[] = [];
  for (let i = int(8) + 1; i > 0; i--) {
    const body = Buffer.from(
      JSON.stringify(String.fromCharCode(...Array.from({ length: int(20) }, () => int(0x2ff)))).slice(1, -1),
    );
    const [choice, index] = [int(128), int(200)];
    const kind = int(5);
    if (kind === 0) lines.push(...recordLine.content(choice, body));
    else if (kind === 1) lines.push(...recordLine.reasoning(choice, body));
    else if (kind === 2) lines.push(...recordLine.arguments(choice, index, body));
    else if (kind === 3) lines.push(...recordLine.call(['onToolCall', choice, index, body.toString(), 'a']));
    else lines.push(Buffer.from('\n'));
    if (kind < 2) records.push({ kind: ['content', 'reasoning'][kind], choice, bytes: body.toString() });
    else if (kind === 2) records.push({ kind: 'arguments', choice, index, bytes: body.toString() });
    else if (kind === 3) records.push({ kind: 'call', call: ['onToolCall', choice, index, body.toString(), 'a'] });
  }
  return { bytes: Buffer.concat(lines), records };
}

/** Reads pieces that are cut anywhere. */
function readInPieces(bytes: Buffer): unknown[] {
  const reader = new RecordReader();
  const read: AnswerRecord[] = [];
  const shown: unknown[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = int(12) + 1;
    read.length = 0;
    read.push(...reader.read(Buffer.from(bytes.subarray(at, at + size))));
    shown.push(...read.map((record) => ('bytes' in record ? { ...record, bytes: record.bytes.toString() } : record)));
    at += size;
  }
  return shown;
}

t.test('records are read as they were written, in whatever pieces they come', async (t) => {
  for (let i = iterations(500, 20_000); i > 0; i--) {
    const { bytes, records } = someRecords();
    const read = readInPieces(bytes);
    if (JSON.stringify(read) !== JSON.stringify(records)) t.strictSame(read, records, bytes.toString());
  }
  t.pass();
});

t.test('damaged records are refused or are records, and nothing is held beyond what came', async (t) => {
  let nRefused = 0;
  const nRuns = iterations(5_000, 1_000_000);
  for (let i = nRuns; i > 0; i--) {
    const { bytes } = someRecords();
    for (let n = int(4) + 1; n > 0; n--) bytes[int(bytes.length)] = int(256);
    try {
      for (const record of readInPieces(bytes) as AnswerRecord[])
        if (record.kind !== 'call' && !(Number.isInteger(record.choice) && record.choice <= 9_999))
          t.fail(JSON.stringify(record));
    } catch (error) {
      nRefused += 1;
      if (!(error instanceof SyntaxError) && !/no record|text that is none/.test((error as Error).message)) throw error;
    }
  }
  t.ok(nRefused > nRuns / 10, `${nRefused} of ${nRuns}`);
  const reader = new RecordReader();
  const piece = Buffer.alloc(1024 * 1024, 'x');
  t.throws(() => {
    for (let i = 0; i < 20; i++) reader.read(piece);
  }, /too long/);
});

t.test('bytes and arrays travel in JSON', async (t) => {
  const value = {
    a: Buffer.from([1, 2]),
    b: [Int32Array.of(-1, 2 ** 31 - 1)],
    c: Float32Array.of(0.5, -2),
    d: { e: 'x', f: null },
  };
  const read = decode(encode(value)) as typeof value;
  t.ok(read.a.equals(value.a));
  t.ok(read.b[0] instanceof Int32Array && read.c instanceof Float32Array);
  t.strictSame([[...(read.b[0] ?? [])], [...read.c], read.d], [[-1, 2 ** 31 - 1], [0.5, -2], { e: 'x', f: null }]);
  t.strictSame(decode('{"$bytes":1,"$int32":"x"}'), { $bytes: 1, $int32: 'x' });
  t.throws(() => decode('{'));
});
