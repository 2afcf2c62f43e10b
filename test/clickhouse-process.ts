/** A ClickHouse engine in a process that a test may kill: chdb (PyPI) behind a small HTTP front. `SVC_TEST_CHDB` names a Python that has it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Test } from 'tap';
import { LineReader } from '../ts/server/platform/storage/test-support/line-reader.ts';

const PYTHON = process.env['SVC_TEST_CHDB'] ?? 'python3';
const FRONT = new URL('chdb-server.py', import.meta.url).pathname;
const FIND = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("chdb") is None)';

/** Why tests of ClickHouse are skipped, or false. */
export const whyNoClickHouse =
  spawnSync(PYTHON, ['-c', FIND]).status === 0
    ? false
    : 'there is no chdb here (python3 -m venv DIR && DIR/bin/pip install chdb, then SVC_TEST_CHDB=DIR/bin/python)';

interface ClickHouseProcess {
  url: string;
  kill(): Promise<void>;
  /** It has the port of before. */
  start(): Promise<void>;
}

export async function startClickHouse(t: Test, folder: string): Promise<ClickHouseProcess> {
  const server = await spawnClickHouse(folder);
  t.teardown(() => server.kill());
  return server;
}

/** Whoever asks for it kills it. */
export async function spawnClickHouse(folder: string): Promise<ClickHouseProcess> {
  let child: ChildProcess | undefined;
  let port = 0;
  const start = async (): Promise<void> => {
    child = spawn(PYTHON, [FRONT, folder, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
    ({ port } = await new LineReader<{ port: number }>(child).find(() => true));
  };
  const kill = async (): Promise<void> => {
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    child = undefined;
  };
  await start();
  return { url: `http://127.0.0.1:${port}`, kill, start };
}
