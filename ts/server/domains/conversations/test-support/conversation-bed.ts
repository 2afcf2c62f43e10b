/** The module's routes on a server of its own, over SQLite, with callers who say who they are. */
import type { Test } from 'tap';
import type { Authenticator } from '../../../platform/http/authenticator.ts';
import { ANONYMOUS } from '../../../platform/http/principal.ts';
import type { TestBed } from '../../../platform/http/test-support/test-bed.ts';
import { type Answer, openModules } from '../../../platform/module/test-support/open-modules.ts';
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

type Ask = (method: string, path: string, body?: unknown, caller?: string) => Promise<Answer>;

export const PATH = '/api/v1/edge/conversations';

/** Paths that begin with a slash are whole; others stand below PATH. */
export async function openConversationBed(t: Test, authenticator = namedCallers): Promise<{ ask: Ask; bed: TestBed }> {
  const modules = await openModules(t, { modules: [conversations], http: () => ({ authenticator }) });
  const ask: Ask = (method, path, body, caller = 'red/ann') => {
    const place = path.startsWith('/') ? path : `${PATH}${path === '' || path.startsWith('?') ? '' : '/'}${path}`;
    return modules.send(method, place, { headers: { 'x-caller': caller }, body });
  };
  return { ask, bed: modules.server };
}
