/**
 * Who is calling and what tenants may use, as the identity module tells it. The module is made with the other modules, which are given this
 * port before; a program without the module, as tests make it, has no accounts.
 */
import type { IdentityApi } from './domains/identity/index.ts';
import {
  type AuthenticationState,
  type Authenticator,
  type CredentialSource,
  NO_ACCOUNTS,
} from './platform/http/authenticator.ts';
import type { Principal } from './platform/http/principal.ts';
import type { TenantRules } from './platform/module/tenant-rules.ts';

export class AccountsPort implements Authenticator, TenantRules {
  #authenticator: Authenticator = NO_ACCOUNTS;
  #rules: TenantRules | undefined;

  attach({ authenticator, tenants }: IdentityApi): void {
    this.#authenticator = authenticator;
    this.#rules = tenants;
  }

  state(): AuthenticationState {
    return this.#authenticator.state();
  }

  authenticate(source: CredentialSource): Principal | Promise<Principal> {
    return this.#authenticator.authenticate(source);
  }

  tokensPerMinute(tenant: string): number | undefined {
    return this.#rules?.tokensPerMinute(tenant);
  }

  allowsPriority(tenant: string): boolean {
    return this.#rules?.allowsPriority(tenant) ?? true;
  }
}
