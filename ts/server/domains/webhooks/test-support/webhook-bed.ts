/** For tests: the module with its routes, a real outbox and a database, and callers who say who they are. */
import type { Test } from 'tap';
import type { Authenticator } from '../../../platform/http/authenticator.ts';
import { ANONYMOUS, type Role } from '../../../platform/http/principal.ts';
import type { ModuleContext } from '../../../platform/module/module-context.ts';
import { type Answer, openModules, standIn } from '../../../platform/module/test-support/open-modules.ts';
import { type AuditEntry, identity } from '../../identity/index.ts';
import { webhooks } from '../index.ts';
import type { webhookSettings } from '../settings.ts';
import { createWebhooks, type WebhookOverrides } from '../webhooks-module.ts';

interface BedOptions {
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
  const acts: AuditEntry[] = [];
  const recordAct = async (entry: AuditEntry): Promise<void> => {
    acts.push(entry);
  };
  const create = (context: ModuleContext<typeof webhookSettings>) =>
    createWebhooks(context, { pollMs: 10, backoff: { first: 20, longest: 40 }, ...overrides });
  const modules = await openModules(t, {
    modules: [standIn(identity, { recordAct }), { ...webhooks, create }],
    databaseUrl: url,
    settings,
    events: { retryMs: { first: 1, longest: 20 } },
    http: () => ({ authenticator: namedCallers }),
  });
  const ask = (method: string, path: string, body?: object, caller = 'red/admin'): Promise<Answer> =>
    modules.send(method, `/api/v1/webhooks${path}`, { headers: { 'x-caller': caller }, body });
  return { ask, events: modules.events, storage: modules.storage, acts, close: modules.stop, url: modules.url };
}
