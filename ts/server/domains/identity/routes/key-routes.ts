/** API keys. */
import Type from 'typebox';
import { json, type Route, route } from '../../../platform/http/route.ts';
import { auditSource } from '../audit/audit-entry.ts';
import type { Keys } from '../credentials/keys.ts';
import { errorSpecs } from '../errors.ts';
import * as schemas from '../schemas.ts';
import { DEFAULT_LIMIT, NO_CONTENT, NO_STORE } from './answers.ts';

const tag = 'Identity';
const path = '/api/v1/identity/keys';
const scope = 'account:manage';
const MAX_BODY = 4096;

export function keyRoutes(keys: Keys): Route[] {
  return [
    route({
      method: 'GET',
      path,
      auth: 'viewer',
      scope,
      maxBody: 0,
      tag,
      summary: 'The caller’s keys; for an administrator those of the account that `user` names',
      query: Type.Object({ ...schemas.Page.properties, user: Type.Optional(Type.String({ maxLength: 128 })) }),
      responses: { 200: schemas.listOfRows(schemas.Key) },
      errors: errorSpecs('no_account', 'forbidden', 'user_not_found'),
      handle: async ({ caller, query }) => {
        const { after = '', limit = DEFAULT_LIMIT, user: userId } = query;
        const rows = await keys.list({ after, limit: limit + 1, userId }, caller);
        return json(200, schemas.pageOf(rows, limit, schemas.keyBody));
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/identity/key-names',
      auth: 'admin',
      scope: 'identity:read',
      maxBody: 0,
      tag,
      summary:
        'What the keys of the tenant are called and whose they are, revoked ones included; for a superadmin those of all tenants',
      description: 'For reports that count by key, long after a key ended.',
      query: schemas.Page,
      responses: { 200: schemas.listOfRows(schemas.KeyName) },
      handle: async ({ caller, query: { after = '', limit = DEFAULT_LIMIT } }) => {
        const rows = await keys.listNames({ after, limit: limit + 1 }, caller);
        return json(200, schemas.pageOf(rows, limit, schemas.keyNameBody));
      },
    }),
    route({
      method: 'POST',
      path,
      auth: 'viewer',
      scope,
      maxBody: MAX_BODY,
      tag,
      summary: 'Make an API key, which is shown this once',
      body: schemas.NewKey,
      responses: { 201: schemas.IssuedKey },
      errors: errorSpecs('no_account', 'forbidden', 'scope_beyond_caller', 'user_not_found'),
      handle: async (context) => {
        const { name, scopes, expires_in_seconds: expiresInSeconds, user: userId } = context.body;
        const issued = await keys.create({ name, scopes, expiresInSeconds, userId }, auditSource(context));
        return json(201, schemas.issuedKeyBody(issued), NO_STORE);
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/{id}`,
      auth: 'viewer',
      scope,
      maxBody: 0,
      tag,
      summary: 'Revoke an API key; it stops at once',
      params: schemas.Id,
      responses: { 204: Type.Null() },
      errors: errorSpecs('forbidden', 'user_not_found', 'key_not_found'),
      handle: async (context) => {
        await keys.revoke(context.params.id, auditSource(context));
        return NO_CONTENT;
      },
    }),
  ];
}
