/** The tenants of `tenant_keys_file`, read when the node starts; without the file everyone is one anonymous tenant. */

import { TenantKeys } from './platform/http/access/tenant-keys.ts';
import type { Authenticator, CredentialSource } from './platform/http/authenticator.ts';
import { ANONYMOUS, type Principal } from './platform/http/principal.ts';
import { StartError } from './platform/module/start-error.ts';
import type { TenantRules } from './platform/module/tenant-rules.ts';

export class TenantKeyFile implements Authenticator, TenantRules {
  readonly #path: string;
  #keys: TenantKeys | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  open(): void {
    if (this.#path === '') return;
    try {
      this.#keys = TenantKeys.read(this.#path);
    } catch (error) {
      const remedy = 'correct the file, or leave tenant_keys_file empty';
      throw new StartError('invalid_tenant_keys', error instanceof Error ? error.message : String(error), remedy, error);
    }
  }

  state(): 'off' {
    return 'off';
  }

  authenticate(source: CredentialSource): Principal {
    return this.#keys?.authenticate(source) ?? ANONYMOUS;
  }

  tokensPerMinute(tenant: string): number | undefined {
    return this.#keys?.tokensPerMinute(tenant);
  }

  /** Without the file every tenant may. */
  allowsPriority(tenant: string): boolean {
    return this.#keys?.allowsPriority(tenant) ?? true;
  }
}
