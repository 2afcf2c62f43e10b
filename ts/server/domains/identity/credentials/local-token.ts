/**
 * The administrator of the machine: a token in a file of data_dir that only the account of the server can read, made anew at each start. `svc` sends
 * it from the machine itself, so whoever may read the data may also administer it, for example after the last password was lost.
 */
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isFromThisMachine } from '../../../platform/http/access/this-machine.ts';
import type { CredentialSource } from '../../../platform/http/authenticator.ts';
import type { Principal } from '../../../platform/http/principal.ts';
import { scopesOfRole } from '../accounts/scopes.ts';
import { isSameSecret, newToken } from '../secrets/secret-token.ts';
import { LOCAL_TOKEN_FILE } from './local-token-file.ts';

export const LOCAL_ADMIN: Principal = Object.freeze({
  tenant: 'default',
  subject: undefined,
  kind: 'token',
  roles: Object.freeze(['superadmin'] as const),
  scopes: scopesOfRole('superadmin'),
  keyId: 'local-admin',
});

export class LocalToken {
  readonly #path: string;
  #token: string | undefined;

  constructor(dataDir: string) {
    this.#path = join(dataDir, LOCAL_TOKEN_FILE);
  }

  async start(): Promise<void> {
    const token = newToken('svcl_');
    const temporary = `${this.#path}.${process.pid}.tmp`;
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(token);
    } finally {
      await file.close();
    }
    await rename(temporary, this.#path);
    this.#token = token;
  }

  async stop(): Promise<void> {
    this.#token = undefined;
    await rm(this.#path, { force: true });
  }

  /** A token that left the machine is worth nothing. */
  matches(given: string, source: CredentialSource): boolean {
    return this.#token !== undefined && isFromThisMachine(source) && isSameSecret(given, this.#token);
  }
}
