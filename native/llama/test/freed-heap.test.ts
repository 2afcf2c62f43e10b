/** What the process keeps of memory that was freed, in a process of its own: malloc's bounds are the process's. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';

const run = promisify(execFile);
const MIB = 2 ** 20;

/** Raises what malloc would keep by itself, takes 48 MiB in pieces that are not mapped one by one, and frees all of it. */
const script = `
  import { systemInfo } from ${JSON.stringify(new URL('../../../ts/server/native/llama.ts', import.meta.url).href)};
  systemInfo();
  const take = (nBytes, count) => Array.from({ length: count }, () => Buffer.allocUnsafeSlow(nBytes).fill(1));
  take(31 * ${MIB}, 1);
  gc();
  const before = process.memoryUsage().rss;
  let held = take(${MIB}, 48);
  const most = process.memoryUsage().rss;
  held = undefined;
  gc();
  await new Promise((resolve) => setImmediate(resolve));
  gc();
  console.log(JSON.stringify({ taken: most - before, kept: process.memoryUsage().rss - before }));
`;

t.test('most of what was freed goes back to the system', { skip: process.platform !== 'linux' }, async (t) => {
  const { stdout } = await run(process.execPath, ['--expose-gc', '--input-type=module', '--eval', script]);
  const { taken, kept } = JSON.parse(stdout) as { taken: number; kept: number };
  t.ok(taken > 40 * MIB, `${taken} bytes were taken`);
  t.ok(kept < 16 * MIB, `${kept} bytes are kept`);
});
