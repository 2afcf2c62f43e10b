/** Another's S3 server, installed as s3-server/package-lock.json pins it, into the cache. */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { cacheFolder } from '../scripts/setup/paths.mjs';

const pins = join(import.meta.dirname, 's3-server');
const run = promisify(execFile);
/** Its own, fixed ones. */
export const s3rverKeys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

interface S3rver {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}

/** Why there is none; undefined: it is installed. Idempotent. */
export async function installS3Server(): Promise<string | undefined> {
  const folder = installedIn();
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return undefined;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(pins, file), join(folder, file));
  return await run('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts'], { timeout: 120_000 }).then(
    () => undefined,
    (error: Error) => `the S3 server could not be installed: ${error.message.split('\n')[0]}`,
  );
}

/** Its address; it has one bucket. */
export async function startS3Server(t: Test, directory: string, bucket: string): Promise<string> {
  const Server = createRequire(join(installedIn(), 'package.json'))('s3rver') as new (options: object) => S3rver;
  const server = new Server({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: [{ name: bucket }] });
  const { port } = await server.run();
  t.teardown(() => server.close());
  return `http://127.0.0.1:${port}`;
}

function installedIn(): string {
  const digest = createHash('sha256')
    .update(readFileSync(join(pins, 'package-lock.json')))
    .digest('hex')
    .slice(0, 12);
  return join(cacheFolder(), 'test-s3-server', digest);
}
