/** Copies are compared whatever their order, and an hour that is over is the same in both afterwards. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { random } from '../../../../../test/test-support/seed.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { closeHour, repairPacked } from './closed-hour.ts';
import { endOfHour, listHourFiles, retain } from './copy-files.ts';
import { FollowedCopies } from './followed-copies.ts';
import { FRAME_BYTES, type FramePlace, FrameWriter, framesOf, readFrame, withFile } from './packed-frames.ts';

const ID = 'auth/2026-01-02T03';

function openCopies(t: Test): [string, string] {
  const folder = newFolder(t);
  const copies: [string, string] = [join(folder, 'a'), join(folder, 'b')];
  for (const copy of copies) mkdirSync(copy);
  return copies;
}

function lineOf(n: number): string {
  return `{"uuid":"${n.toString(16).toUpperCase().padStart(32, '0')}", "class":"auth", "msg":"number ${n} ü \u2028 \\r"}\n`;
}

function put(copy: string, lines: readonly string[] | string, id = ID): void {
  const path = join(copy, `${id}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, typeof lines === 'string' ? lines : lines.join(''));
}

function packed(copy: string, id = ID): string[] {
  return zstdDecompressSync(readFileSync(join(copy, `${id}.jsonl.zst`)))
    .toString()
    .split(/(?<=\n)/);
}

const bytesOf = (copy: string) => readFileSync(join(copy, `${ID}.jsonl.zst`));
const all = Array.from({ length: 100 }, (_, n) => lineOf(n));
const shuffled = () => all.toSorted(() => random.next() - 0.5);

t.test('copies in another order are in step; one that lacks lines for long is not', async (t) => {
  const [a, b] = openCopies(t);
  const copies = new FollowedCopies([a, b]);
  put(a, all);
  put(b, shuffled());
  await copies.look();
  await copies.look();
  t.match(copies, { isInStep: true, reading: a });
  put(a, lineOf(100));
  await copies.look();
  t.equal(copies.isInStep, true, 'it may be on its way');
  await copies.look();
  t.equal(copies.isInStep, false);
  t.match(copies.states, [{ missingLines: 0 }, { missingLines: 1 }]);
  put(b, lineOf(100).replace('number', 'Number'));
  await copies.look();
  await copies.look();
  t.equal(copies.isInStep, false, 'as many lines, and one is another');
});

t.test('a copy that is gone is left for the other, and a torn line is not read before its end', async (t) => {
  const [a, b] = openCopies(t);
  const copies = new FollowedCopies([a, b]);
  put(b, all);
  put(b, '{"uuid":');
  rmSync(a, { recursive: true });
  await copies.look();
  t.match(copies, { isInStep: false, reading: b });
  t.match(copies.states, [{ error: /ENOENT/ }, { error: null }]);
  t.equal(copies.sumOf(1, ID)?.nLines, 100);
  put(b, '"1"}\n');
  await copies.look();
  t.equal(copies.sumOf(1, ID)?.nLines, 101);
});

t.test('an hour that is over becomes the same file in both copies', async (t) => {
  const [a, b] = openCopies(t);
  put(a, all);
  put(b, shuffled());
  t.strictSame(await closeHour([a, b], ID, []), { repaired: [0, 0] });
  t.strictSame(packed(a), all);
  t.ok(bytesOf(a).equals(bytesOf(b)));
  t.strictSame(readdirSync(join(a, 'auth')), ['2026-01-02T03.jsonl.zst']);
  t.strictSame(readdirSync(join(b, 'auth')), ['2026-01-02T03.jsonl.zst']);
});

t.test('lines that one copy lacks come from the other, each once', async (t) => {
  const [a, b] = openCopies(t);
  put(a, all.slice(0, 90));
  put(
    b,
    shuffled().filter((line) => line !== all[3]),
  );
  t.strictSame(await closeHour([a, b], ID, []), { repaired: [10, 1] });
  t.strictSame(packed(a).toSorted(), all.toSorted());
  t.ok(bytesOf(a).equals(bytesOf(b)));
});

t.test('a copy without the hour gets it', async (t) => {
  const [a, b] = openCopies(t);
  put(b, all);
  t.strictSame(await closeHour([a, b], ID, []), { repaired: [100, 0] });
  t.strictSame(packed(a), all);
});

t.test('a byte that flipped is as it was written afterwards, in whichever copy, and in any way', async (t) => {
  for (const flipped of ['nUmber', '{"uuid":"\\u00', '"msg":number'])
    for (const bad of [0, 1]) {
      const copies = openCopies(t);
      for (const copy of copies) put(copy, all);
      const followed = new FollowedCopies(copies);
      await followed.look();
      const path = join(copies[bad] as string, `${ID}.jsonl`);
      const text = readFileSync(path, 'latin1');
      const at = text.indexOf(flipped === 'nUmber' ? 'number 7' : '{"uuid":"', 2000);
      const bytes = Buffer.from(text, 'latin1');
      bytes.write(flipped === 'nUmber' ? 'nUmber' : flipped.slice(0, 9), at);
      if (flipped === '"msg":number') bytes.writeUInt8(0xff, at);
      writeFileSync(path, bytes);
      await closeHour(copies, ID, [followed.sumOf(0, ID), followed.sumOf(1, ID)]);
      const kept = packed(copies[0]);
      t.strictSame(
        all.filter((line) => !kept.includes(line)),
        [],
        `${flipped} in copy ${bad}`,
      );
      t.ok(bytesOf(copies[0]).equals(bytesOf(copies[1])));
    }
});

t.test('what a crash leaves behind is closed by the next run, and nothing is lost', async (t) => {
  const [a, b] = openCopies(t);
  put(a, all.slice(0, 60));
  put(b, all.slice(40));
  await closeHour([a, b], ID, []);
  // It ended before the open files were removed, or before the second of them was; and a late line came.
  put(b, all.slice(40));
  t.ok((await closeHour([a, b], ID, [])).repaired[0] > 0);
  t.strictSame(packed(b).toSorted(), all.toSorted());
  put(a, lineOf(500));
  await closeHour([a, b], ID, []);
  t.strictSame(packed(a).toSorted(), [...all, lineOf(500)].toSorted());
  writeFileSync(join(a, `${ID}.jsonl.zst.tmp`), 'half');
  put(a, lineOf(501));
  await closeHour([a, b], ID, []);
  t.equal(packed(b).length, 102);
  t.ok(bytesOf(a).equals(bytesOf(b)));
});

t.test('a packed file that is damaged or gone is replaced, byte for byte', async (t) => {
  const [a, b] = openCopies(t);
  put(a, all);
  put(b, all);
  await closeHour([a, b], ID, []);
  const good = bytesOf(a);
  t.equal(await repairPacked([a, b], ID), undefined);
  for (const [bad, copy] of [a, b].entries()) {
    const path = join(copy, `${ID}.jsonl.zst`);
    const bytes = Buffer.from(good);
    bytes.writeUInt8((bytes[20] ?? 0) ^ 1, 20);
    writeFileSync(path, bytes);
    t.equal(await repairPacked([a, b], ID), bad);
    t.ok(readFileSync(path).equals(good));
    rmSync(dirname(path), { recursive: true });
    t.equal(await repairPacked([a, b], ID), bad);
    t.ok(readFileSync(path).equals(good));
  }
  for (const [bad, copy] of [a, b].entries())
    for (const nLeft of [good.length - 3, good.length - 20, 8, 0]) {
      const path = join(copy, `${ID}.jsonl.zst`);
      writeFileSync(path, good.subarray(0, nLeft));
      t.equal(await repairPacked([a, b], ID), bad, `cut to ${nLeft} bytes`);
      t.ok(readFileSync(path).equals(good));
    }
  // Bits of its head that no reader looks at.
  for (const [bad, copy] of [a, b].entries())
    for (const bit of [1, 2, 4, 8, 16, 32]) {
      const path = join(copy, `${ID}.jsonl.zst`);
      const bytes = Buffer.from(good);
      bytes.writeUInt8((bytes[5] ?? 0) ^ bit, 5);
      writeFileSync(path, bytes);
      t.equal(await repairPacked([a, b], ID), bad, `bit ${bit} of the head`);
      t.ok(readFileSync(path).equals(good));
    }
  for (const copy of [a, b]) writeFileSync(join(copy, `${ID}.jsonl.zst`), `no frame ${copy}`);
  await t.rejects(repairPacked([a, b], ID), /no copy/);
});

t.test('a packed hour is frames that are found and read one by one, whatever lies in them', async (t) => {
  const [a] = openCopies(t);
  const path = join(a, 'frames');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.string({ unit: 'binary-ascii' }), fc.nat(40_000)), { maxLength: 30 }),
      async (pieces) => {
        const lines = pieces.map(([text, n]) =>
          text
            .replaceAll('\n', '')
            .repeat(n)
            .slice(0, FRAME_BYTES * 2),
        );
        const writer = await FrameWriter.open(path);
        for (const line of lines) await writer.add(line);
        await writer.end();
        const places = await withFile(path, allFrames);
        const texts = await withFile(path, (file) =>
          Promise.all(places.map(async (place) => (await readFrame(file, place)).toString('latin1'))),
        );
        const ofAll = lines.map((line) => `${line}\n`).join('');
        const { size } = statSync(path);
        const isTiled =
          places.every(({ offset }, i) => offset === (i === 0 ? 0 : endOf(places[i - 1]))) && endOf(places.at(-1)) === size;
        return (
          isTiled &&
          texts.join('') === ofAll &&
          texts.every((text) => text.length <= FRAME_BYTES || text.indexOf('\n') === text.length - 1)
        );
      },
    ),
    { numRuns: 25 },
  );
  writeFileSync(path, 'no frames at all');
  await t.rejects(withFile(path, allFrames), /no zstd frame/);
});

async function allFrames(file: FileHandle): Promise<FramePlace[]> {
  const places: FramePlace[] = [];
  for await (const place of framesOf(file)) places.push(place);
  return places;
}

const endOf = (place: FramePlace | undefined) => (place?.offset ?? 0) + (place?.sizeBytes ?? 0);

t.test('the oldest hours go first, and the open one stays', async (t) => {
  const [a] = openCopies(t);
  const hours = ['2026-01-01T00', '2026-01-01T23', '2026-01-02T00', '2026-01-02T01'];
  for (const hour of hours) put(a, 'x'.repeat(1000), `auth/${hour}`);
  put(a, 'x'.repeat(1000), 'web/2026-01-01T00');
  const now = endOfHour('2026-01-02T00') + 1;
  const left = async () => (await listHourFiles(a)).map(({ id }) => id);
  const bounds = { days: 100, bytes: 1e9, reserveBytes: 0 };
  t.equal(await retain(a, bounds, now), true);
  t.equal((await left()).length, 5);
  await retain(a, { ...bounds, bytes: 3500 }, now);
  t.strictSame(await left(), ['auth/2026-01-01T23', 'auth/2026-01-02T00', 'auth/2026-01-02T01']);
  await retain(a, { ...bounds, days: 1 }, endOfHour('2026-01-02T23') + 1);
  t.strictSame(await left(), ['auth/2026-01-01T23', 'auth/2026-01-02T00', 'auth/2026-01-02T01'].slice(1));
  t.equal(await retain(a, { ...bounds, reserveBytes: 1e18 }, now), false, 'a disk that is full all the same');
  t.strictSame(await left(), ['auth/2026-01-02T01']);
  t.ok(existsSync(join(a, 'auth/2026-01-02T01.jsonl')));
});
