/** Opens the module for tests, with ports and folders of its own. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { freePort } from '../../../../../test/child-server.ts';
import { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import type { Authenticator } from '../../../platform/http/authenticator.ts';
import { ANONYMOUS, type Role } from '../../../platform/http/principal.ts';
import { openModules, standIn } from '../../../platform/module/test-support/open-modules.ts';
import { type AuditEntry, identity } from '../../identity/index.ts';
import type { CollectionConfig } from '../collection/collection-config.ts';
import { CANARY_CLASS } from '../collection/copy-files.ts';
import { findRsyslog } from '../collection/rsyslog-runner.ts';
import { logs } from '../index.ts';

/** Why tests of collections are skipped, or false. */
export const whyNoRsyslog =
  findRsyslog() === undefined ? 'there is no rsyslog here (Debian: apt install rsyslog rsyslog-openssl rsyslog-relp)' : false;

const callers: Authenticator = {
  state: () => 'enforce',
  authenticate: ({ headers }) => {
    const role = (headers.get('x-role') ?? headers.get('authorization')?.slice('Bearer '.length)) as Role;
    return { ...ANONYMOUS, kind: 'key', subject: 'ann', roles: [role], scopes: ['*'] };
  },
};

export async function openLogs(
  t: Test,
  {
    dataDir = join(newFolder(t), 'data'),
    runner = 'child',
    settings = {},
  }: { dataDir?: string; runner?: 'child' | 'unit'; settings?: Readonly<Record<string, unknown>> } = {},
) {
  const acts: AuditEntry[] = [];
  const sealingKey = () => SealingKey.open(join(dataDir, 'sealing.key'));
  const modules = await openModules(t, {
    modules: [standIn(identity, { sealingKey, recordAct: async (entry) => void acts.push(entry) }), logs],
    dataDir,
    settings: { 'logs.runner': runner, ...settings },
    http: () => ({ authenticator: callers }),
  });
  const ask = (method: string, path: string, body?: unknown, role = 'superadmin') =>
    modules.send(method, `/api/v1/logs/${path}`, { headers: { 'x-role': role }, body });
  const metrics = () => modules.metrics.expose();
  return { ask, acts, metrics, dataDir, url: modules.url, stop: modules.stop, log: modules.log, module: modules.module(logs) };
}

/** One listener by TCP on loopback, two folders; `more` takes the place of members. */
export async function someConfig(t: Test, more: Partial<CollectionConfig> = {}): Promise<CollectionConfig> {
  const folder = newFolder(t);
  return {
    listen: [{ protocol: 'tcp', address: '127.0.0.1', port: await freePort() }],
    allowed_networks: ['127.0.0.0/8'],
    sources: [],
    classes: [],
    copies: [join(folder, 'a'), join(folder, 'b')],
    retention: { days: 30, bytes: 1_000_000_000 },
    ...more,
  };
}

interface StoredLine {
  uuid: string;
  class: string;
  msg: string;
  [member: string]: unknown;
}

/** Lines of the open hours of a copy, without the service's own. */
export function linesOf(copy: string): StoredLine[] {
  if (!existsSync(copy)) return [];
  const names = (readdirSync(copy, { recursive: true }) as string[]).filter(
    (name) => name.endsWith('.jsonl') && !name.startsWith(CANARY_CLASS),
  );
  return names.flatMap((name) => {
    const lines = readFileSync(join(copy, name), 'utf8').split('\n');
    return lines.slice(0, -1).map((line) => JSON.parse(line) as StoredLine);
  });
}
