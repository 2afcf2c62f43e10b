/** The comm module over stand-ins of what it uses, and a provider and a mail server that fail as a test says. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import type { Principal, Role } from '../../../platform/http/principal.ts';
import type { JobsOptions } from '../../../platform/jobs/jobs-options.ts';
import type { AnyModuleDefinition } from '../../../platform/module/module.ts';
import { openModules, standIn, statedCallers } from '../../../platform/module/test-support/open-modules.ts';
import { httpServer } from '../../../platform/network/test-support/test-servers.ts';
import { type FilesApi, files, type StoredFile } from '../../files/index.ts';
import { type AuditEntry, type IdentityApi, identity } from '../../identity/index.ts';
import { type LicenseApi, license } from '../../license/index.ts';
import { type MediaApi, media } from '../../media/index.ts';
import { security } from '../../security/index.ts';
import { comm } from '../index.ts';

export function callerOf(name: string, role: Role, more: Partial<Principal> = {}): Principal {
  return { tenant: 'red', subject: name, kind: 'session', roles: [role], scopes: ['*'], keyId: undefined, ...more };
}

export const developer = callerOf('usr_dev', 'developer');
export const admin = callerOf('usr_admin', 'admin');

/** A fifth of a second. */
const SPOKEN_SAMPLES = 4_800;

interface CommBedOptions {
  readonly databaseUrl?: string;
  readonly dataDir?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly modules?: readonly AnyModuleDefinition[];
  readonly jobs?: Partial<JobsOptions>;
}

export async function openComm(t: Test, options: CommBedOptions = {}) {
  const { dataDir = join(newFolder(t), 'data') } = options;
  mkdirSync(dataDir, { recursive: true });
  const acts: AuditEntry[] = [];
  const stored = new Map<string, Partial<StoredFile>>();
  const sealing = SealingKey.open(join(dataDir, 'sealing.key'));
  const modules = await openModules(t, {
    modules: [
      security,
      comm,
      standIn(identity, {
        recordAct: async (entry: AuditEntry) => void acts.push(entry),
        sealingKey: () => sealing,
        publicUrl: 'https://ai.example',
        delegations: { of: (caller: Principal) => caller, principalOf: async (kept: Principal) => kept },
      } as unknown as Partial<IdentityApi>),
      standIn(files, {
        stored: { find: async (_: unknown, id: string) => stored.get(id) },
        intake: {
          receive: async (_: unknown, fileName: string, __: unknown, content: AsyncIterable<Buffer>) => {
            for await (const piece of content) writeFileSync(join(dataDir, fileName), piece);
            return { fileName };
          },
          keep: async (_: unknown, { fileName }: { fileName: string }) => ({ id: fileName }),
        },
        blobs: { open: async (_: unknown, sha256: string) => join(dataDir, sha256) },
      } as unknown as Partial<FilesApi>),
      standIn(media, {
        speak: async () => new Int16Array(SPOKEN_SAMPLES),
        transcribe: async (_: unknown, wav: Buffer) => `${wav.length > 44 ? 'Meter seven' : 'Nothing'}`,
      } as Partial<MediaApi>),
      standIn(license, { requireFeature: () => {} } as Partial<LicenseApi>),
      ...(options.modules ?? []),
    ],
    dataDir,
    jobs: options.jobs ?? {},
    events: {},
    ...(options.databaseUrl !== undefined && { databaseUrl: options.databaseUrl }),
    settings: { 'comm.allowed_hosts': '127.0.0.1,http://127.0.0.1', 'comm.timeout_seconds': 1, ...options.settings },
    http: () => ({ authenticator: statedCallers }),
  });
  const ask = (method: string, path: string, as: Principal, body?: object) =>
    modules.send(method, path, { headers: { 'x-as': JSON.stringify(as) }, body });
  const add = async (account: object, as = admin): Promise<string> => {
    const { status, body, text } = await ask('POST', '/api/v1/comm/accounts', as, { allowed_recipients: ['*'], ...account });
    if (status !== 201) throw new Error(`${status} ${text}`);
    return body.id;
  };
  const message = async (id: string, as = developer) => (await ask('GET', `/api/v1/comm/messages/${id}`, as)).body;
  /** A file that the account has stored. */
  const store = (id: string, subject: string, content: string): void => {
    writeFileSync(join(dataDir, id), content);
    stored.set(id, { id, subject: `user:${subject}`, fileName: `${id}.txt`, sha256: id, sizeBytes: content.length });
  };
  return { ...modules, acts, ask, add, message, store };
}

export type Fault = 'none' | 'cut-before' | 'cut-during' | 'cut-after' | 'silent' | 'busy' | 'broken' | 'refuse';

/** A provider that takes messages by any path: what it accepted, in order, and what it does next. */
export async function provider(t: Test) {
  const accepted: { path: string; body: string; headers: Record<string, unknown> }[] = [];
  const faults: Fault[] = [];
  const { origin } = await httpServer(t, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const fault = faults.shift() ?? 'none';
    if (fault === 'cut-before') return void request.socket.destroy();
    if (fault === 'busy') return void response.writeHead(429, { 'retry-after': '0' }).end();
    if (fault === 'refuse') return void response.writeHead(400).end();
    if (fault !== 'broken')
      accepted.push({ path: request.url ?? '', body: Buffer.concat(chunks).toString(), headers: request.headers });
    if (fault === 'cut-after') return void request.socket.destroy();
    if (fault === 'silent') return;
    if (fault === 'cut-during') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      return void response.write('{"ok": tr', () => request.socket.destroy());
    }
    response.writeHead(fault === 'broken' ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ok: true, event_id: '$1', result: { message_id: 7 } }));
  });
  return { origin, accepted, faults };
}

/** A mail server that says what it is told to at a command; `drop` ends the connection there. */
export async function mailServer(t: Test) {
  const accepted: string[] = [];
  const says = new Map<string, string>();
  const server = createServer((socket) => {
    let isData = false;
    let text = '';
    const answer = (command: string, expected: string): void => {
      const said = says.get(command) ?? expected;
      says.delete(command);
      if (said === 'drop') socket.destroy();
      else socket.write(`${said}\r\n`);
    };
    socket.on('error', () => undefined).write('220 mail.example ESMTP\r\n');
    socket.on('data', (chunk) => {
      text += chunk;
      for (;;) {
        const end = isData ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n');
        if (end < 0) return;
        const line = text.slice(0, end);
        text = text.slice(end + (isData ? 5 : 2));
        if (isData) {
          isData = false;
          const isTaken = (says.get('END') ?? '250').startsWith('250') || says.get('END') === 'drop';
          if (isTaken) accepted.push(line);
          answer('END', '250 taken');
          continue;
        }
        const [word = ''] = line.toUpperCase().split(/[ :]/);
        if (word === 'DATA' && !says.has('DATA')) isData = true;
        answer(word, word === 'DATA' ? '354 go on' : word === 'QUIT' ? '221 bye' : '250 OK');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { port: (server.address() as { port: number }).port, accepted, says };
}
