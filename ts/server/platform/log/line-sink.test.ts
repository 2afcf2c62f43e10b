/** Where lines go: a file takes all of them, a reader that is slow or gone costs lines and never time. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { FileDescriptorSink } from './line-sink.ts';

const program = join(import.meta.dirname, 'test-support', 'flood.ts');

t.test('lines reach a file in order, all of them', async (t) => {
  const path = join(t.testdir(), 'log');
  const fd = openSync(path, 'w');
  t.teardown(() => closeSync(fd));
  const sink = new FileDescriptorSink(fd);
  for (let i = 0; i < 5000; i++) sink.write(`line ${i}\n`);
  sink.flush();
  t.equal(readFileSync(path, 'utf8'), Array.from({ length: 5000 }, (_, i) => `line ${i}\n`).join(''));
  sink.write('last\n');
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  t.match(readFileSync(path, 'utf8'), /last\n$/, 'without a flush on the next turn');
});

/** The two kinds of pipe that a supervisor hands over: a FIFO, and a socket pair. Nobody reads from `logs` before the test does. */
function openFifo(t: Test): { child: ChildProcess; logs: () => Readable } {
  const path = join(t.testdir(), 'fifo');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, 'w');
  const child = spawn(process.execPath, ['--no-warnings', program], { stdio: ['pipe', 'pipe', writer] });
  closeSync(writer);
  return { child, logs: () => new Socket({ fd: reader, writable: false }) };
}

function openSocketPair(): { child: ChildProcess; logs: () => Readable } {
  const child = spawn(process.execPath, ['--no-warnings', program], { stdio: 'pipe' });
  return { child, logs: () => child.stderr as Readable };
}

const kinds: [string, (t: Test) => { child: ChildProcess; logs: () => Readable }][] = [
  ['a pipe', openFifo],
  ['a socket', openSocketPair],
];
for (const [kind, open] of kinds) {
  t.test(`${kind} that nobody reads blocks neither the writer nor its end`, async (t) => {
    const { child } = open(t);
    t.teardown(() => child.kill('SIGKILL'));
    const [told] = (await once(child.stdout as Readable, 'data')) as [Buffer];
    const { nLines } = JSON.parse(told.toString()) as { nLines: number };
    t.ok(nLines > 0, 'all lines were written');
    child.stdin?.write('x');
    const [code] = (await once(child, 'exit')) as [number];
    t.equal(code, 0);
  });

  t.test(`${kind} that is read late holds the first lines in order, and how many were lost`, async (t) => {
    const { child, logs } = open(t);
    t.teardown(() => child.kill('SIGKILL'));
    const [told] = (await once(child.stdout as Readable, 'data')) as [Buffer];
    const { nLines } = JSON.parse(told.toString()) as { nLines: number };
    const reader = logs();
    const whole = text(reader);
    // What is held goes out by itself; the count of the lost lines is the last of it.
    let end = '';
    await new Promise<void>((resolve) =>
      reader.on('data', (chunk: Buffer) => {
        end = (end + chunk.toString('latin1')).slice(-1000);
        if (end.includes('dropped')) resolve();
      }),
    );
    child.stdin?.write('x');
    const lines = (await whole).trimEnd().split('\n');
    const dropped = Number(/"(\d+) log lines dropped/.exec(lines.pop() ?? '')?.[1]);
    t.equal(lines.length + dropped, nLines);
    t.ok(lines.every((line, i) => line === `{"line":${i},"text":"é${'x'.repeat(40)}"}`));
  });
}
