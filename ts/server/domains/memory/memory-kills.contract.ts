/** A node that is killed while it loads a file, dreams and consolidates, on both databases. SVC_TEST_KILLS sets how many times. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { random } from '../../../../test/test-support/seed.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { LineReader } from '../../platform/storage/test-support/line-reader.ts';
import { readMemoryFile, writeMemoryFile } from './files/memory-file.ts';
import type { MemoryLine } from './test-support/memory-worker.ts';

const nKills = iterations(2, 12, 'SVC_TEST_KILLS');
/** Longest wait before a kill, from when the node answers: about what it needs to do each once. */
const LONGEST_LIFE_MS = 1_000;
const LIFE_LIMIT_MS = 30_000;
const program = new URL('./test-support/memory-worker.ts', import.meta.url).pathname;

/** Facts that do not say the same, then each again in another order of its words, which a dream finds. */
const N_FACTS = 24;
const FACTS = Array.from({ length: N_FACTS }, (_, i) => `the garden of house ${i} has pears`);
const AGAIN = Array.from({ length: N_FACTS }, (_, i) => `pears has the garden of house ${i}`);

function episodes(texts: readonly string[], first: number) {
  const memories = texts.map((text, i) => ({
    id: `mem_0199a3b2-0000-7000-8000-${String(first + i).padStart(12, '0')}`,
    kind: 'fact',
    text,
    validFrom: i,
    recordedAt: i,
  }));
  return { kind: 'episodes', name: 'user:ann', bytes: new TextEncoder().encode(JSON.stringify(memories)) } as const;
}

function startWorker(t: Test, args: readonly string[]) {
  // Starting is most of what a life costs: what was compiled is kept for the next one.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'svc-compiled-memory-worker') };
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'], env });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, output: new LineReader<MemoryLine>(child) };
}

function testKills(t: Test, newDatabase: NewDatabase): void {
  t.test(`after ${nKills} kills each file is the old one or the new one, and each memory is there once`, async (t) => {
    const url = await newUrl(t, newDatabase);
    const dataDir = newFolder(t);
    const folder = join(dataDir, 'memory', 'red');
    mkdirSync(folder, { recursive: true });
    const learned = { kind: 'world_model', name: 'series', bytes: new Uint8Array(20_000).fill(7) } as const;
    writeMemoryFile(join(folder, 'source.exmm'), [episodes([...FACTS, ...AGAIN], 0)], 1);
    writeMemoryFile(join(folder, 'other.exmm'), [episodes(['nothing of it'], 900), learned], 1);
    const done: string[] = [];
    const checkFiles = (): void => {
      for (const name of readdirSync(folder).filter((each) => !each.endsWith('.tmp'))) {
        const sections = readMemoryFile(join(folder, name)).map(({ kind, name: of }) => `${kind} ${of}`);
        const others = sections.filter(
          (section) => !/^(episodes|vectors|slots) user:ann(#[2-9])?$|^world_model series$/.test(section),
        );
        if (others.length > 0) t.fail(`${name} has ${others.join(', ')}`);
      }
    };
    for (let i = 0; i < nKills; i += 1) {
      const { child, output } = startWorker(t, [url, dataDir]);
      await output.find(({ ready }) => ready !== undefined);
      await wait(random.next() * LONGEST_LIFE_MS);
      child.kill('SIGKILL');
      await output.ended;
      done.push(...output.lines.flatMap(({ did }) => did ?? []));
      checkFiles();
    }
    const last = startWorker(t, [url, dataDir]);
    last.child.stdin?.end();
    await last.output.ended;
    checkFiles();
    t.strictSame(
      readdirSync(folder).toSorted(),
      ['other.exmm', 'source.exmm', 'target.exmm', 'target.exmm.pre-consolidate.bak'],
      'no half-written file is left',
    );
    const remembered = last.output.lines.flatMap((line) => line.remembered ?? []);
    t.strictSame(remembered.map(({ text }) => text).toSorted(), [...FACTS, ...AGAIN].toSorted(), 'each memory is there once');
    const current = remembered.filter(({ state }) => state === 'current');
    t.equal(current.length, N_FACTS, 'of two that say the same one is current');
    const ids = new Set(current.map(({ id }) => id));
    t.ok(
      remembered.every(({ state, superseded_by: by }) => state === 'current' || (by !== null && ids.has(by))),
      'the other one is kept as superseded by it',
    );
    const kinds = readMemoryFile(join(folder, 'target.exmm')).map(({ kind }) => kind);
    t.ok(kinds.includes('world_model') && kinds.includes('vectors'), 'all sections stayed');
    t.comment(`${done.length} were done before kills`);
  });
}

onEachDatabase(testKills, { timeoutMs: 120_000 + nKills * LIFE_LIMIT_MS });
