/** What a support bundle holds. A part that cannot be had says why in its place. */
import { readdir, stat, statfs } from 'node:fs/promises';
import { arch, cpus, freemem, version as kernelVersion, loadavg, release, totalmem, uptime } from 'node:os';
import { join } from 'node:path';
import { databaseOptions } from '../../server/database.ts';
import { modules } from '../../server/modules.ts';
import { effectiveConfig } from '../../server/platform/config/effective-config.ts';
import { createStorage } from '../../server/platform/storage/index.ts';
import { VERSION } from '../../server/product.ts';
import type { NodeConfig } from '../../server/settings.ts';
import type { Invocation } from '../command.ts';
import { examine } from '../doctor/examine.ts';
import { atOnce, type clientOptions, openClient, readAnswer } from '../server-client.ts';
import { isSecretName } from './secret-name.ts';
import type { SecretScrubber } from './secret-scrubber.ts';

type SupportInvocation = Invocation<typeof clientOptions>;

export interface SupportPart {
  readonly name: string;
  /** Text as it is, anything else as JSON; both are scrubbed. */
  collect(): Promise<unknown>;
}

/** Routes of a running server that say nothing of what its users said. */
const served = {
  'server/health.json': 'GET /health',
  'server/readyz.json': 'GET /readyz',
  'server/metrics.txt': 'GET /metrics',
  'server/version.json': 'GET /api/v1/system/version',
  'server/incidents.json': 'GET /api/v1/system/incidents',
  'server/log.json': 'GET /api/v1/system/log',
  'server/roles.json': 'GET /api/v1/system/roles',
  'server/models.json': 'GET /v1/models',
} as const;
const LOG_LINES = 1000;

/** `config` is undefined where the configuration cannot be read; `doctor.json` then says why. */
export function supportParts(
  invocation: SupportInvocation,
  config: NodeConfig | undefined,
  scrubber: SecretScrubber,
): SupportPart[] {
  const parts: SupportPart[] = [
    { name: 'versions.json', collect: async () => versions() },
    { name: 'machine.json', collect: async () => machine() },
    { name: 'environment.json', collect: async () => variableNames(invocation.env) },
    { name: 'doctor.json', collect: () => examine(invocation) },
  ];
  if (config !== undefined) {
    parts.push({ name: 'configuration.json', collect: async () => configuration(config, scrubber) });
    parts.push({ name: 'data-folder.json', collect: () => dataFolder(config.values.data_dir) });
    parts.push({ name: 'migrations.json', collect: () => pendingMigrations(config) });
  }
  for (const [name, route] of Object.entries(served)) parts.push({ name, collect: () => askServer(invocation, route) });
  return parts;
}

function versions(): object {
  const { node, v8, uv, openssl } = process.versions;
  return { svc: VERSION, node, v8, uv, openssl, platform: process.platform, arch: process.arch };
}

function machine(): object {
  const [first] = cpus();
  return {
    kernel: release(),
    build: kernelVersion(),
    arch: arch(),
    uptime_seconds: Math.round(uptime()),
    cpu: first?.model,
    cores: cpus().length,
    load: loadavg(),
    memory_bytes: totalmem(),
    free_memory_bytes: freemem(),
  };
}

/** Names alone: a value may be anything. */
function variableNames(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env)
    .filter((name) =>
      /^(?:SVC_|HF_|NODE_|LD_|OMP_|GGML_|CUDA_|UV_|LISTEN_|NOTIFY_|WATCHDOG_|PG|HTTPS?_PROXY$|NO_PROXY$)/i.test(name),
    )
    .sort();
}

function configuration(config: NodeConfig, scrubber: SecretScrubber): object[] {
  return effectiveConfig(config).map(({ key, value, origin }) => {
    const known = JSON.parse(value) as unknown;
    const isPath = config.spec[key]?.isPath === true;
    return { key, value: !isPath && isSecretName(key) && known !== '' ? '***' : scrubber.scrubJson(known), origin };
  });
}

/** Names and sizes of the first level, and the room that is left. */
async function dataFolder(folder: string): Promise<object> {
  const names = await readdir(folder);
  const entries = await Promise.all(
    names.sort().map(async (name) => {
      const facts = await stat(join(folder, name)).catch(() => undefined);
      return { name, kind: facts?.isDirectory() ? 'folder' : 'file', size_bytes: facts?.size, modified_at: facts?.mtime };
    }),
  );
  const { bavail, bsize } = await statfs(folder);
  return { folder, free_bytes: bavail * bsize, entries };
}

async function pendingMigrations(config: NodeConfig): Promise<object> {
  return await createStorage(databaseOptions(config.values, modules)).planMigrations();
}

async function askServer(invocation: SupportInvocation, route: (typeof served)[keyof typeof served]): Promise<unknown> {
  const client = openClient(invocation);
  const options = { signal: atOnce(invocation.signal) };
  const response =
    route === 'GET /api/v1/system/log'
      ? await client.ask(route, { ...options, query: { limit: LOG_LINES } })
      : await client.ask(route, options);
  const { status, body } = await readAnswer(response);
  return status === 200 ? body : { status, body };
}
