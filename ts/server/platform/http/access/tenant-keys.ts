/**
 * Keys from a file that tell tenants apart, for a node without accounts: they decide whose share and whose budget a request uses, and
 * protect nothing. A request without one of them comes from the anonymous caller, as on every node whose authentication is off.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Authenticator, CredentialSource } from '../authenticator.ts';
import { ANONYMOUS, type Principal } from '../principal.ts';

const KeyFile = Type.Record(
  Type.String(),
  Type.Object({
    tenant: Type.String({ minLength: 1, maxLength: 128 }),
    tokens_per_minute: Type.Optional(Type.Integer({ minimum: 1 })),
    priority: Type.Optional(Type.Boolean()),
  }),
);
/** Shorter ones are guessed. */
const MIN_KEY_LENGTH = 16;
const check = Compile(KeyFile);

export class TenantKeys implements Authenticator {
  /** By the key's hash, so that looking one up takes no time that depends on the key. */
  readonly #callers = new Map<string, Principal>();
  readonly #tokensPerMinute = new Map<string, number>();
  readonly #priorityTenants = new Set<string>();

  constructor(keys: Static<typeof KeyFile>) {
    for (const [key, { tenant, tokens_per_minute: limit, priority }] of Object.entries(keys)) {
      this.#callers.set(hashOf(key), Object.freeze({ ...ANONYMOUS, tenant }));
      if (limit !== undefined) this.#tokensPerMinute.set(tenant, limit);
      if (priority) this.#priorityTenants.add(tenant);
    }
  }

  /** Throws an Error that names the file and what it must hold. */
  static read(path: string): TenantKeys {
    const keys = parse(path);
    if (check.Check(keys) && Object.keys(keys).every((key) => key.length >= MIN_KEY_LENGTH)) return new TenantKeys(keys);
    const shape = '{"KEY of 16 characters or more": {"tenant": "NAME", "tokens_per_minute": 60000, "priority": true}}';
    throw new Error(`${path} must be JSON like ${shape}`);
  }

  state(): 'off' {
    return 'off';
  }

  authenticate({ headers }: CredentialSource): Principal {
    const bearer = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    const key = headers.get('x-api-key') ?? bearer;
    return (key === undefined ? undefined : this.#callers.get(hashOf(key))) ?? ANONYMOUS;
  }

  tokensPerMinute(tenant: string): number | undefined {
    return this.#tokensPerMinute.get(tenant);
  }

  /** Whether its requests may ask to be admitted before those of others. */
  allowsPriority(tenant: string): boolean {
    return this.#priorityTenants.has(tenant);
  }
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`${path} cannot be read as JSON: ${cause instanceof SyntaxError ? 'it is none' : String(cause)}`, { cause });
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}
