/** Memory files: what is written is read, what is mutated is refused with a sentence, and no mutation does anything else. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { random } from '../../../../../test/test-support/seed.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { MemoryFileFault, readDirectory, SECTION_KINDS, writeDirectory } from './directory.ts';
import { checkedSections, memoryFileBytes, readMemoryFile, type SectionData, writeMemoryFile } from './memory-file.ts';

const pick = (n: number): number => Math.floor(random.next() * n);
const bytesOf = (n: number): Uint8Array => Uint8Array.from({ length: n }, () => pick(256));

function someSections(): SectionData[] {
  return Array.from({ length: pick(5) }, (_, i) => ({
    kind: SECTION_KINDS[pick(SECTION_KINDS.length)] ?? 'slots',
    name: `section ${i} ${'ä'.repeat(pick(4))}`,
    bytes: bytesOf(pick(300)),
  }));
}

t.test('sections come back as they were written, and a file is replaced whole', async (t) => {
  const path = join(newFolder(t), 'a.exmm');
  for (let round = 0; round < 30; round++) {
    const sections = someSections();
    writeMemoryFile(path, sections, 1_000 + round);
    t.same(readMemoryFile(path), sections);
  }
  const link = join(newFolder(t), 'link.exmm');
  symlinkSync(path, link);
  t.throws(() => readMemoryFile(link), { code: 'ELOOP' }, 'no link is followed');
  t.throws(() => writeMemoryFile(join(newFolder(t), 'none', 'a.exmm'), [], 1), { code: 'ENOENT' });
});

t.test('mutated files are refused with a sentence, or are as they were', async (t) => {
  let nRefused = 0;
  const n = iterations(2_000, 20_000);
  for (let i = 0; i < n; i++) {
    const sections = someSections();
    const bytes = memoryFileBytes(sections, 7);
    const mutated = mutate(bytes);
    try {
      checkedSections(mutated);
      if (Buffer.compare(mutated, bytes) !== 0) t.fail(`mutation ${i} was accepted`);
    } catch (error) {
      nRefused += 1;
      if (!(error instanceof MemoryFileFault) || error.message === '') throw error;
    }
  }
  t.ok(nRefused > n * 0.6, `${nRefused} of ${n} were refused`);
});

t.test('a directory whose own checksum is right may point anywhere, and is refused', async (t) => {
  const sha256 = new Uint8Array(32);
  const sections = Array.from({ length: 3 }, (_, i) => ({
    kind: 'slots' as const,
    name: `s${i}`,
    offset: 64 * i,
    size: 10,
    sha256,
  }));
  const bytes = writeDirectory(5, sections);
  t.same(readDirectory(bytes), sections);
  for (let i = 0; i < iterations(5_000, 50_000); i++)
    try {
      readDirectory(mutate(bytes));
    } catch (error) {
      if (!(error instanceof MemoryFileFault)) throw error;
    }
  t.throws(() => readDirectory(new Uint8Array(0)), MemoryFileFault);
});

const hasFlatc = spawnSync('flatc', ['--version']).status === 0;
t.test('flatc reads the directory by its schema', { skip: hasFlatc ? false : 'flatc is not installed' }, async (t) => {
  const folder = newFolder(t);
  const schema = join(import.meta.dirname, '../../../platform/wire/exmm.fbs');
  writeFileSync(
    join(folder, 'd.bin'),
    writeDirectory(5, [{ kind: 'world_model', name: 'series', offset: 64, size: 9, sha256: new Uint8Array(32).fill(3) }]),
  );
  execFileSync('flatc', ['--json', '--strict-json', '--defaults-json', '-o', folder, schema, '--', join(folder, 'd.bin')]);
  t.match(JSON.parse(readFileSync(join(folder, 'd.json'), 'utf8')), {
    created: 5,
    sections: [{ kind: 'world_model', name: 'series', offset: 64, size: 9, sha256: Array(32).fill(3) }],
  });
});

/** Changes, cuts, repeats or adds bytes. */
function mutate(bytes: Uint8Array): Uint8Array {
  const mutated = bytes.slice();
  const kind = pick(5);
  if (kind === 0) return mutated.subarray(0, pick(bytes.length + 1));
  if (kind === 1) return Buffer.concat([mutated, bytesOf(1 + pick(80))]);
  if (kind === 2) {
    mutated.copyWithin(pick(bytes.length), pick(bytes.length), pick(bytes.length));
    return mutated;
  }
  for (let i = 0; i <= pick(4); i++) {
    const at = kind === 3 ? pick(bytes.length) : pick(Math.min(bytes.length, 200));
    mutated[at] = [0, 1, 127, 255, pick(256)][pick(5)] ?? 0;
  }
  return mutated;
}
