/** Files and names share libuv's few threads with everything asynchronous in a process: long native work must not take them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { undisturbed } from './undisturbed.ts';

const script = join(import.meta.dirname, 'long-work.ts');

interface Times {
  workMs: number;
  waitMs: number;
}

const isQuick = ({ workMs, waitMs }: Times) => waitMs < Math.max(60, workMs / 4);

t.test('while models load and megabytes are tokenised, the only thread of libuv answers for files', async (t) => {
  const args = ['--no-warnings', script, await randomModel({ arch: 'llama', shape: 'mid' }), '2'];
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
  const measure = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    return JSON.parse(stdout) as Record<string, Times>;
  };
  const figures = await undisturbed(measure, (all) => Object.values(all).every(isQuick));
  for (const [what, times] of Object.entries(figures))
    t.ok(isQuick(times), `${what} took ${times.workMs.toFixed(0)} ms, a file waited ${times.waitMs.toFixed(1)} ms`);
});
