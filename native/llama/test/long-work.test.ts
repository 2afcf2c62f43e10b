/** Files and names share libuv's few threads with everything asynchronous in a process: long native work must not take them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';

const script = join(import.meta.dirname, 'long-work.ts');

t.test('while models load and megabytes are tokenised, the only thread of libuv answers for files', async (t) => {
  const args = ['--no-warnings', script, await randomModel({ arch: 'llama', shape: 'mid' }), '2'];
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  const figures = JSON.parse(stdout) as Record<string, { workMs: number; waitMs: number }>;
  for (const [what, { workMs, waitMs }] of Object.entries(figures))
    t.ok(waitMs < Math.max(60, workMs / 4), `${what} took ${workMs.toFixed(0)} ms, a file waited ${waitMs.toFixed(1)} ms`);
});
