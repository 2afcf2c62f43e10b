import type { Principal } from '../../../platform/http/principal.ts';
import { type IdentityBed, ROOT_PASSWORD } from './identity-bed.ts';

interface World {
  bed: IdentityBed;
  root: string;
  make(username: string, role: string, tenant?: string): Promise<{ id: string; session: string }>;
  caller(session: string): Promise<Principal>;
}

export async function worldOf(bed: IdentityBed): Promise<World> {
  const root = await bed.makeRoot();
  return {
    bed,
    root,
    make: async (username, role, tenant = 'default') => {
      const body = { username, role, tenant, password: ROOT_PASSWORD };
      const { body: user } = await bed.ask('POST', '/api/v1/identity/users', { as: root, body });
      const login = await bed.ask('POST', '/api/v1/auth/login', { body: { username, password: ROOT_PASSWORD } });
      return { id: user.id as string, session: login.body.token as string };
    },
    caller: async (session) => (await bed.ask('GET', '/api/v1/policy/viewer', { as: session })).body.caller as Principal,
  };
}
