/** API keys. */
import Type from 'typebox';
import { listOf, PageQuery, page, pageRead } from '../../../platform/http/page.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { auditSource } from '../audit/audit-entry.ts';
import type { Keys } from '../credentials/keys.ts';
import { identityErrors } from '../errors.ts';
import * as schemas from '../schemas.ts';
import { NO_STORE } from './answers.ts';

const path = '/api/v1/identity/keys';

const { get, post, del } = routes({ tag: 'Identity', auth: 'viewer', scope: 'account:manage', errors: identityErrors });

export function keyRoutes(keys: Keys): Route[] {
  return [
    get(path, {
      summary: 'The caller’s keys; for an administrator those of the account that `user` names',
      query: Type.Object({ ...PageQuery.properties, user: Type.Optional(Type.String({ maxLength: 128 })) }),
      answer: listOf(schemas.Key),
      errors: ['no_account', 'forbidden', 'user_not_found'],
      handle: async ({ caller, query }) => {
        const { user: userId } = query;
        const rows = await keys.list({ ...pageRead(query), userId }, caller);
        return page(rows, query.limit, schemas.keyBody);
      },
    }),
    get('/api/v1/identity/key-names', {
      auth: 'admin',
      scope: 'identity:read',
      summary:
        'What the keys of the tenant are called and whose they are, revoked ones included; for a superadmin those of all tenants',
      description: 'For reports that count by key, long after a key ended.',
      query: PageQuery,
      answer: listOf(schemas.KeyName),
      handle: async ({ caller, query }) => {
        const rows = await keys.listNames(pageRead(query), caller);
        return page(rows, query.limit, schemas.keyNameBody);
      },
    }),
    post(path, {
      summary: 'Make an API key, which is shown this once',
      body: schemas.NewKey,
      answer: schemas.IssuedKey,
      status: 201,
      headers: NO_STORE,
      errors: ['no_account', 'forbidden', 'scope_beyond_caller', 'user_not_found'],
      handle: async (context) => {
        const { name, scopes, expires_in_seconds: expiresInSeconds, user: userId } = context.body;
        const issued = await keys.create({ name, scopes, expiresInSeconds, userId }, auditSource(context));
        return schemas.issuedKeyBody(issued);
      },
    }),
    del(`${path}/{id}`, {
      summary: 'Revoke an API key; it stops at once',
      params: schemas.Id,
      errors: ['forbidden', 'user_not_found', 'key_not_found'],
      handle: async (context) => {
        await keys.revoke(context.params.id, auditSource(context));
      },
    }),
  ];
}
