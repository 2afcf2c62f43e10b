/** FlatBuffers are read as they were written, by readers of older and newer schemas too, and damaged ones are refused. */
import t from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { random } from '../../../../test/test-support/seed.ts';
import { FlatFault, readFlat } from './flat-reader.ts';
import { writeFlat } from './flat-writer.ts';

const Inner = { name: 'string', n: 'uint' } as const;
const Table = {
  flag: 'bool',
  small: 'ubyte',
  count: 'uint',
  large: 'ulong',
  real: 'double',
  text: 'string',
  texts: '[string]',
  bytes: '[ubyte]',
  ints: '[int]',
  floats: '[float]',
  inner: Inner,
  list: [Inner],
} as const;
const ID = 'TEST';

const pick = (n: number): number => Math.floor(random.next() * n);
const some = <T>(make: () => T): T[] => Array.from({ length: pick(5) }, make);
const text = (): string => String.fromCodePoint(...some(() => 1 + pick(0xd000)));
const inner = () => ({ name: text(), n: pick(2 ** 32) });

function someTable() {
  return {
    flag: pick(2) === 1,
    small: pick(256),
    count: pick(2 ** 32),
    large: pick(Number.MAX_SAFE_INTEGER),
    real: random.next() - 0.5,
    text: text(),
    texts: some(text),
    bytes: Buffer.from(some(() => pick(256))),
    ints: Int32Array.from(some(() => pick(2 ** 32) - 2 ** 31)),
    floats: Float32Array.from(some(() => random.next())),
    inner: inner(),
    list: some(inner),
  };
}

t.test('a table is read as it was written, and what is absent is its default', async (t) => {
  for (let i = iterations(300, 20_000); i > 0; i--) {
    const table = someTable();
    const gone = Object.keys(table).filter(() => pick(3) === 0);
    const draft = Object.fromEntries(Object.entries(table).filter(([name]) => !gone.includes(name)));
    const found = readFlat(Table, ID, writeFlat(Table, ID, draft));
    const expected = { ...readFlat(Table, ID, writeFlat(Table, ID, {})), ...draft };
    if (JSON.stringify(found) !== JSON.stringify(expected)) t.strictSame(found, expected);
  }
  const empty = { flag: false, small: 0, count: 0, large: 0, real: 0, text: '', texts: [], list: [], inner: undefined };
  t.match(readFlat(Table, ID, writeFlat(Table, ID, {})), empty);
  t.throws(() => readFlat(Table, 'ELSE', writeFlat(Table, ID, {})), FlatFault);
});

t.test('readers of an older and of a newer schema read what both know', async (t) => {
  const newer = {
    ...Table,
    list: [{ ...Inner, later: '[string]' }],
    more: { deep: [{ text: 'string' }] },
    count2: 'ulong',
  } as const;
  for (let i = 0; i < 50; i++) {
    const table = someTable();
    const later = {
      ...table,
      list: table.list.map((each) => ({ ...each, later: ['x'] })),
      more: { deep: [{ text: 'y' }] },
      count2: 7,
    };
    t.same(readFlat(Table, ID, writeFlat(newer, ID, later)), table);
    const found = readFlat(newer, ID, writeFlat(Table, ID, table));
    t.same(found, { ...table, list: table.list.map((each) => ({ ...each, later: [] })), more: undefined, count2: 0 });
  }
});

t.test('a buffer that points to one place again and again is refused before it is all read', async (t) => {
  const List = { texts: '[string]' } as const;
  const bytes = writeFlat(List, ID, { texts: [...Array.from({ length: 5_000 }, () => ''), 'x'.repeat(50_000)] });
  const long = bytes.indexOf('xxxx') - 4;
  const first = bytes.indexOf(Buffer.from(Uint32Array.of(5_001).buffer)) + 4;
  t.equal(readFlat(List, ID, bytes).texts.length, 5_001);
  for (let i = 0; i < 5_000; i++) bytes.writeUInt32LE(long - (first + 4 * i), first + 4 * i);
  t.throws(() => readFlat(List, ID, bytes), /several names for one place/);
});

t.test('numbers that cannot be had exactly, and places outside, are refused', async (t) => {
  const One = { large: 'ulong', text: 'string' } as const;
  const bytes = writeFlat(One, ID, { large: 0x0102030405, text: 'abc' });
  const at = bytes.indexOf(Buffer.from([5, 4, 3, 2, 1]));
  const with8 = Buffer.from(bytes);
  with8.writeUInt8(0xff, at + 7);
  t.throws(() => readFlat(One, ID, with8), /too large/);
  for (let cut = 0; cut < bytes.length - 1; cut++) t.throws(() => readFlat(One, ID, bytes.subarray(0, cut)), FlatFault);
});
