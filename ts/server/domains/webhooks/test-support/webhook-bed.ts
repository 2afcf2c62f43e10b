/** For tests: the module with its routes, a real outbox and a database, and callers who say who they are. */
import type { Test } from 'tap';
import { Events, eventsMigrations } from '../../../platform/events/index.ts';
import type { Authenticator } from '../../../platform/http/authenticator.ts';
import { ANONYMOUS, type Role } from '../../../platform/http/principal.ts';
import { openTestBed } from '../../../platform/http/test-support/test-bed.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { scriptedContext, silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { createStorage } from '../../../platform/storage/index.ts';
import type { AuditEntry } from '../../identity/index.ts';
import { webhookSettings } from '../settings.ts';
import { webhookMigrations } from '../store/migrations.ts';
import { createWebhooks, type WebhookOverrides } from '../webhooks-module.ts';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests match what they expect
  body: any;
}

export interface BedOptions {
  url: string;
  settings?: Readonly<Record<string, unknown>>;
  overrides?: WebhookOverrides;
}

/** The header `x-caller: TENANT/ROLE`, or the same as a bearer token. */
const namedCallers: Authenticator = {
  state: () => 'enforce',
  authenticate: ({ headers }) => {
    const [tenant, role] = (headers.get('x-caller') ?? headers.get('authorization')?.slice('Bearer '.length))?.split('/') ?? [];
    if (tenant === undefined || role === undefined) return ANONYMOUS;
    return { tenant, subject: 'ann', kind: 'session', roles: [role as Role], scopes: ['*'], keyId: undefined };
  },
};

export async function openWebhooks(t: Test, { url, settings = {}, overrides = {} }: BedOptions) {
  const storage = createStorage({ url, modules: [eventsMigrations, { module: 'webhooks', migrations: webhookMigrations }] });
  await storage.open();
  const retryMs = { first: 1, longest: 20 };
  const events = new Events({
    storage,
    log: silentLog,
    metrics: new MetricsRegistry(),
    nodeId: () => 'node-1',
    pollMs: 10,
    retryMs,
  });
  const acts: AuditEntry[] = [];
  const context = scriptedContext({ spec: webhookSettings, settings, storage, events });
  const recordAct = async (entry: AuditEntry): Promise<void> => {
    acts.push(entry);
  };
  const use = () => ({ recordAct }) as never;
  const module = createWebhooks({ ...context, use }, { pollMs: 10, backoff: { first: 20, longest: 40 }, ...overrides });
  await module.start();
  await events.start();
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await module.stop();
    await events.stop();
    await storage.close();
  };
  t.teardown(close);
  const bed = await openTestBed(t, module.routes, { authenticator: namedCallers });
  const ask = async (method: string, path: string, body?: object, caller = 'red/admin'): Promise<Answer> => {
    const headers = { 'x-caller': caller, ...(body && { 'content-type': 'application/json' }) };
    const response = await fetch(`${bed.url}/api/v1/webhooks${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  return { ask, events, storage, acts, close, url: bed.url };
}
