/** The science module, and sources that answer by a script. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Test } from 'tap';
import { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import type { Principal, Role } from '../../../platform/http/principal.ts';
import type { AnyModuleDefinition } from '../../../platform/module/module.ts';
import { openModules, standIn, statedCallers } from '../../../platform/module/test-support/open-modules.ts';
import type { UseRules } from '../../../platform/module/use-rules.ts';
import { httpServer } from '../../../platform/network/test-support/test-servers.ts';
import { type AuditEntry, type IdentityApi, identity } from '../../identity/index.ts';
import { type LicenseApi, license } from '../../license/index.ts';
import { security } from '../../security/index.ts';
import type { Adapter, Operation } from '../adapters/adapter.ts';
import { science } from '../index.ts';

export function callerOf(name: string, role: Role, more: Partial<Principal> = {}): Principal {
  return { tenant: 'red', subject: name, kind: 'session', roles: [role], scopes: ['*'], keyId: undefined, ...more };
}

export const ann = callerOf('usr_ann', 'viewer');
export const admin = callerOf('usr_admin', 'admin');

interface ScriptedSource {
  readonly url: string;
  /** The requests that came, in order. */
  readonly asked: { at: number; url: URL; headers: IncomingMessage['headers'] }[];
}

type Script = (url: URL, response: ServerResponse, nBefore: number) => void;

export async function scriptedSource(t: Test, script: Script): Promise<ScriptedSource> {
  const asked: ScriptedSource['asked'] = [];
  const { origin } = await httpServer(t, ({ url = '/', headers }, response) => {
    asked.push({ at: performance.now(), url: new URL(url, origin), headers });
    script(new URL(url, origin), response, asked.length - 1);
  });
  return { url: origin, asked };
}

/** Rows as a source of the adapter below has them. */
export function rowsOf(from: number, n: number): { id: number; title: string; date: string }[] {
  return Array.from({ length: n }, (_, i) => ({ id: from + i, title: `Row ${from + i}`, date: '2024-01-01' }));
}

export function sendJson(response: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

interface AdapterChanges extends Partial<Omit<Adapter, 'operations'>> {
  readonly operation?: Partial<Operation>;
}

/** A source of rows, as fast as a test wants. */
export function adapterOf(id: string, url: string, { operation, ...changes }: AdapterChanges = {}): Adapter {
  return {
    id,
    name: `Source ${id}`,
    category: 'literature',
    description: 'A source of a test.',
    homepage: 'https://example.org',
    terms_url: 'https://example.org/terms',
    license: 'CC0-1.0',
    base_url: url,
    rate: { requests: 10_000, per_seconds: 0.1 },
    cache_seconds: 0,
    operations: {
      search: {
        summary: 'Find rows by words.',
        is_query: true,
        parameters: { query: { type: 'string', description: 'Words.', required: true } },
        request: { path: '/rows', query: { q: '{query}', offset: '{offset}', limit: '{limit}' } },
        form: 'json',
        records: 'rows',
        total: 'total',
        paging: { by: 'offset' },
        max_rows: 10,
        record: { kind: 'article', id: 'id', title: 'title', date: { path: 'date', as: 'date' }, doi: 'doi' },
        ...operation,
      },
    },
    ...changes,
  };
}

interface BedOptions {
  readonly databaseUrl?: string;
  readonly adapters?: readonly Adapter[];
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly uses?: UseRules;
  readonly license?: Partial<LicenseApi>;
  readonly nodeId?: string;
  /** Modules that use it. */
  readonly modules?: readonly AnyModuleDefinition[];
}

export async function openScience(t: Test, options: BedOptions = {}) {
  const { adapters = [], nodeId = 'node' } = options;
  const dataDir = join(newFolder(t), 'data');
  mkdirSync(join(dataDir, 'science'), { recursive: true });
  for (const adapter of adapters) writeFileSync(join(dataDir, 'science', `${adapter.id}.json`), JSON.stringify(adapter));
  const acts: AuditEntry[] = [];
  const sealing = SealingKey.open(join(dataDir, 'sealing.key'));
  const modules = await openModules(t, {
    modules: [
      security,
      science,
      standIn(identity, {
        recordAct: async (entry) => void acts.push(entry),
        sealingKey: () => sealing,
      } as Partial<IdentityApi>),
      standIn(license, { requireFeature: () => {}, ...options.license }),
      ...(options.modules ?? []),
    ],
    dataDir,
    nodeId,
    ...(options.databaseUrl !== undefined && { databaseUrl: options.databaseUrl }),
    ...(options.uses !== undefined && { services: { uses: options.uses } }),
    settings: { 'science.allowed_hosts': 'http://127.0.0.1', ...options.settings },
    http: () => ({ authenticator: statedCallers }),
  });
  const ask = (method: string, path: string, as: Principal, body?: object) =>
    modules.send(method, path, { headers: { 'x-as': JSON.stringify(as) }, body });
  const change = (id: string, body: object = { enabled: true }, as = admin) =>
    ask('PATCH', `/api/v1/science/sources/${id}`, as, body);
  const query = (body: object, as = ann) => ask('POST', '/api/v1/science/query', as, { query: words(), ...body });
  const execute = (tool: string, given: object, as = ann) =>
    ask('POST', '/api/v1/science/tools/execute', as, { tool, arguments: given });
  for (const { id } of adapters.filter(({ key }) => key?.required !== true)) await change(id);
  return { ...modules, acts, ask, change, query, execute };
}

/** Another question each time. */
export function words(): string {
  return `words ${randomBytes(6).toString('hex')}`;
}
