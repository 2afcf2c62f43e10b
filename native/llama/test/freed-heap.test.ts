/** What the process keeps of memory that was freed, in a process of its own: malloc's bounds are the process's. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { isSanitized } from '../../../test/test-support/sanitizer.ts';

const run = promisify(execFile);
const MIB = 2 ** 20;

/** A piece that lies above all others by chance keeps them from going back: it does not do so in every round. */
const ROUNDS = 5;

/** Raises what malloc would keep by itself, then in each round takes 48 MiB in pieces that are not mapped one by one, and frees all of it. */
const script = `
  import { systemInfo } from ${JSON.stringify(new URL('../../../ts/server/native/llama.ts', import.meta.url).href)};
  systemInfo();
  const take = (nBytes, count) => Array.from({ length: count }, () => Buffer.allocUnsafeSlow(nBytes).fill(1));
  take(31 * ${MIB}, 1);
  gc();
  const rounds = [];
  for (let round = 0; round < ${ROUNDS}; round += 1) {
    const before = process.memoryUsage().rss;
    let held = take(${MIB}, 48);
    const most = process.memoryUsage().rss;
    held = undefined;
    gc();
    await new Promise((resolve) => setImmediate(resolve));
    gc();
    rounds.push({ taken: most - before, kept: process.memoryUsage().rss - before });
  }
  console.log(JSON.stringify(rounds));
`;

function whyNot(): string | false {
  if (process.platform !== 'linux') return 'the bounds are those of glibc';
  return isSanitized() ? 'a sanitizer has a malloc of its own, which keeps freed memory' : false;
}

t.test('most of what was freed goes back to the system', { skip: whyNot() }, async (t) => {
  // Else V8 frees buffers on another thread, some time after the collection.
  const options = ['--single-threaded-gc', '--expose-gc', '--input-type=module'];
  const { stdout } = await run(process.execPath, [...options, '--eval', script]);
  const rounds = JSON.parse(stdout) as { taken: number; kept: number }[];
  t.equal(rounds.length, ROUNDS);
  t.ok(
    rounds.some(({ taken, kept }) => taken > 40 * MIB && kept < 16 * MIB),
    `bytes in each round: ${stdout.trim()}`,
  );
});
