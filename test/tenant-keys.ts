/** Tenants of a server that has no account yet, each with an account and its API key, for tests and for the bench. */
export interface WantedTenant {
  /** Prompt and completion tokens in any minute; absent: the node's default. */
  tokensPerMinute?: number;
}

const superadmin = { username: 'root', password: 'correct horse battery' };

/** A session of the superadmin, once `makeTenantKeys` has made it. */
export async function rootToken(url: string): Promise<string> {
  return (await ask<{ token: string }>(url, '/api/v1/auth/login', undefined, superadmin)).token;
}

/** The keys by the tenants' ids. The server asks every caller for a key from then on. */
export async function makeTenantKeys<Id extends string>(
  url: string,
  wanted: Readonly<Record<Id, WantedTenant>>,
): Promise<Record<Id, string>> {
  const { token } = await ask<{ token: string }>(url, '/api/v1/auth/register', undefined, superadmin);
  const keys: Partial<Record<Id, string>> = {};
  for (const id of Object.keys(wanted) as Id[]) {
    const { tokensPerMinute } = wanted[id];
    const limit = tokensPerMinute === undefined ? {} : { tokens_per_minute: tokensPerMinute };
    await ask(url, '/api/v1/identity/tenants', token, { id, ...limit });
    const account = { username: `${id}-program`, tenant: id, role: 'developer' };
    const user = await ask<{ id: string }>(url, '/api/v1/identity/users', token, account);
    const key = await ask<{ api_key: string }>(url, `/api/v1/identity/users/${user.id}/api-key`, token);
    keys[id] = key.api_key;
  }
  return keys as Record<Id, string>;
}

async function ask<Answer>(url: string, path: string, token: string | undefined, body?: object): Promise<Answer> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`POST ${path} is answered with ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}
