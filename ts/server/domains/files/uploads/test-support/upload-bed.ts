/** Uploads on a server of their own: callers who say who they are, a clock that is moved by hand, and a target that remembers what it got. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Test } from 'tap';
import Type from 'typebox';
import { DomainError } from '../../../../platform/errors/domain-error.ts';
import { newFolder } from '../../../../platform/files/test-support/new-folder.ts';
import type { Authenticator } from '../../../../platform/http/authenticator.ts';
import { ANONYMOUS, type Role } from '../../../../platform/http/principal.ts';
import { openTestBed } from '../../../../platform/http/test-support/test-bed.ts';
import { silentLog } from '../../../../platform/module/test-support/scripted-context.ts';
import { createStorage, type Storage } from '../../../../platform/storage/index.ts';
import { type Files, type FilesOptions, wireFiles } from '../../files-module.ts';
import { filesMigrations } from '../../migrations.ts';
import type { ExtractorOptions } from '../../reading/extractor.ts';
import type { UploadedFile, UploadTarget } from '../upload.ts';
import type { UploadLimits } from '../upload-service.ts';
import type { UsedBlobs } from '../upload-sweep.ts';

/** The tables of the module alone, numbered as if it were all that there is. */
export const fileModules = [{ module: 'data', migrations: filesMigrations.map((migration, i) => ({ ...migration, id: i + 1 })) }];

/** The header `x-caller: TENANT/SUBJECT` names an account, and `x-caller: TENANT/SUBJECT/ROLE` one of another role. */
const namedCallers: Authenticator = {
  state: () => 'enforce',
  authenticate: ({ headers }) => {
    const [tenant, subject, role = 'developer'] = headers.get('x-caller')?.split('/') ?? [];
    if (tenant === undefined || subject === undefined) return ANONYMOUS;
    return { tenant, subject, kind: 'session', roles: [role as Role], scopes: ['*'], keyId: undefined };
  },
};

export class RememberingTarget implements UploadTarget {
  readonly files: (UploadedFile & { tenant: string; bytes: Buffer })[] = [];
  /** What the next file is refused with. */
  refusal: Error | undefined;

  async admit(_: unknown, __: unknown, { namespace }: { namespace: string }): Promise<void> {
    if (namespace === 'missing') throw new DomainError('namespace_not_found', 'There is no such knowledge base.');
  }

  async reaches(): Promise<boolean> {
    return true;
  }

  async accept({ tenant }: { tenant: string }, file: UploadedFile) {
    if (this.refusal !== undefined) throw this.refusal;
    this.files.push({ ...file, tenant, bytes: await readFile(file.path) });
    return { status: 201 as const, body: { id: file.uploadId, source: file.source, sha256: file.sha256 } };
  }
}

export const LIMITS: UploadLimits = {
  maxFileBytes: 1_000_000,
  maxTenantBytes: 3_000_000,
  maxOpenUploads: 4,
  expiryMs: 3_600_000,
};
export const EXTRACTION: ExtractorOptions = { nThreads: 2, maxMemoryMb: 256, timeoutMs: 60_000, maxQueue: 10 };
const Outcome = Type.Object({}, { additionalProperties: true });
/** So that small files have several chunks. */
export const TEST_CHUNK = 1000;

interface UploadBed {
  url: string;
  folder: string;
  storage: Storage;
  target: RememberingTarget;
  uploads: Files;
  clock: { ms: number };
  ask: Ask;
  /** Another process on the same folder and database, as after a restart. */
  reopen(): Promise<UploadBed>;
}

type Ask = (method: string, path: string, options?: AskOptions) => Promise<Answer>;

interface AskOptions {
  body?: Uint8Array | object | undefined;
  headers?: Record<string, string>;
  caller?: string;
}

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  body: any;
}

interface BedOptions extends Partial<Pick<FilesOptions, 'freeBytes'>> {
  url?: string;
  usedBlobs?: UsedBlobs;
}

export async function openUploadBed(t: Test, options: BedOptions = {}): Promise<UploadBed> {
  const folder = newFolder(t);
  return await openOn(t, folder, options, { ms: 1_800_000_000_000 });
}

async function openOn(
  t: Test,
  folder: string,
  { url, usedBlobs, ...more }: BedOptions,
  clock: { ms: number },
): Promise<UploadBed> {
  const storage = createStorage({ url: url ?? `sqlite:${folder}/svc.db`, modules: fileModules });
  await storage.open();
  const target = new RememberingTarget();
  const errors = [
    { status: 404, code: 'namespace_not_found', meaning: 'x', remedy: 'y' },
    { status: 422, code: 'scanned_pdf', meaning: 'x', remedy: 'y' },
  ];
  const uploads = wireFiles({
    storage,
    dataDir: folder,
    log: silentLog,
    limits: LIMITS,
    extraction: EXTRACTION,
    chunkBytes: TEST_CHUNK,
    now: () => clock.ms,
    ...more,
  });
  if (usedBlobs !== undefined) uploads.addBlobUser(usedBlobs);
  const routes = uploads.serveUploads(target, { errors, created: Outcome, accepted: Outcome });
  const bed = await openTestBed(t, routes, { authenticator: namedCallers });
  const close = async () => {
    await uploads.stop();
    await storage.close();
  };
  t.teardown(close);
  return {
    url: bed.url,
    folder,
    storage,
    target,
    uploads,
    clock,
    ask: askAt(bed.url),
    reopen: async () => {
      await close();
      return await openOn(
        t,
        folder,
        { ...(url === undefined ? {} : { url }), ...(usedBlobs === undefined ? {} : { usedBlobs }), ...more },
        clock,
      );
    },
  };
}

function askAt(url: string): Ask {
  return async (method, path, { body, headers = {}, caller = 'red/ann' } = {}) => {
    const isBytes = body instanceof Uint8Array;
    const type: Record<string, string> = body === undefined || isBytes ? {} : { 'content-type': 'application/json' };
    const init = body === undefined ? {} : { body: isBytes ? Buffer.from(body) : JSON.stringify(body) };
    const response = await fetch(url + path, { method, headers: { 'x-caller': caller, ...type, ...headers }, ...init });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Bytes that differ from place to place. */
export function someBytes(length: number, seed = 1): Buffer {
  return Buffer.from(Array.from({ length }, (_, i) => (i * 31 + (i >> 8) * 7 + seed) & 0xff));
}

export function initOf(bytes: Uint8Array, more: object = {}) {
  return { filename: 'a.txt', size: bytes.length, tenant: 'red', namespace: 'handbook', ...more };
}

export function sendChunk(
  ask: Ask,
  id: string,
  bytes: Uint8Array,
  index: number,
  more: Record<string, string> = {},
  caller = 'red/ann',
) {
  const body = bytes.subarray(index * TEST_CHUNK, (index + 1) * TEST_CHUNK);
  return ask('POST', '/api/v1/upload/chunk', {
    body,
    headers: { 'x-upload-id': id, 'x-chunk-index': String(index), ...more },
    caller,
  });
}
