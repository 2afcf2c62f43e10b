/** The module's routes on a server of its own, over SQLite, with callers who say who they are. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Authenticator } from '../../../platform/http/authenticator.ts';
import { ANONYMOUS } from '../../../platform/http/principal.ts';
import { openTestBed, type TestBed } from '../../../platform/http/test-support/test-bed.ts';
import { scriptedContext } from '../../../platform/module/test-support/scripted-context.ts';
import { createStorage } from '../../../platform/storage/index.ts';
import { conversations } from '../index.ts';

/** The header `x-caller: TENANT/SUBJECT` names an account. */
const namedCallers: Authenticator = {
  state: () => 'enforce',
  authenticate: ({ headers }) => {
    const [tenant, subject] = headers.get('x-caller')?.split('/') ?? [];
    if (tenant === undefined || subject === undefined) return ANONYMOUS;
    return { tenant, subject, kind: 'session', roles: ['viewer'], scopes: ['*'], keyId: undefined };
  },
};

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  body: any;
}

export type Ask = (method: string, path: string, body?: unknown, caller?: string) => Promise<Answer>;

export const PATH = '/api/v1/edge/conversations';

/** Paths that begin with a slash are whole; others stand below PATH. */
export async function openConversationBed(t: Test, authenticator = namedCallers): Promise<{ ask: Ask; bed: TestBed }> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-conversations-'));
  const { name, migrations = [] } = conversations;
  const storage = createStorage({ url: `sqlite:${join(folder, 'svc.db')}`, modules: [{ module: name, migrations }] });
  t.teardown(async () => {
    await storage.close();
    await rm(folder, { recursive: true });
  });
  await storage.open();
  const { routes, stop } = await conversations.create(scriptedContext({ spec: conversations.settings, storage }));
  t.teardown(async () => await stop());
  const bed = await openTestBed(t, routes, { authenticator });
  const ask: Ask = async (method, path, body, caller = 'red/ann') => {
    const url = bed.url + (path.startsWith('/') ? path : `${PATH}${path === '' || path.startsWith('?') ? '' : '/'}${path}`);
    const isText = typeof body === 'string';
    const init = body === undefined ? {} : { body: isText ? body : JSON.stringify(body) };
    const headers = { 'content-type': 'application/json', 'x-caller': caller };
    const response = await fetch(url, { method, headers: body === undefined ? { 'x-caller': caller } : headers, ...init });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parse(text) };
  };
  return { ask, bed };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
