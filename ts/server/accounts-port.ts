/**
 * The port that tells who is calling and what tenants may use, as the identity module tells it. The module is made with the other modules, which
 * are given this port before; a program without the module, as tests make it, has no accounts.
 */
import type { IdentityApi } from './domains/identity/index.ts';
import { type AccessRecord, type AccessRecorder, NO_RECORDS } from './platform/http/access-recorder.ts';
import {
  type AuthenticationState,
  type Authenticator,
  type CredentialSource,
  NO_ACCOUNTS,
} from './platform/http/authenticator.ts';
import { ANONYMOUS, type Principal } from './platform/http/principal.ts';
import { askAController } from './platform/http/router-errors.ts';
import type { TenantRules } from './platform/module/tenant-rules.ts';
import { type NameFilter, NO_LIMITS, type UseRules } from './platform/module/use-rules.ts';

const CREDENTIALS = ['authorization', 'x-api-key'];

export class AccountsPort implements Authenticator, AccessRecorder, TenantRules, UseRules {
  #authenticator: Authenticator = NO_ACCOUNTS;
  #recorder: AccessRecorder = NO_RECORDS;
  #rules: TenantRules | undefined;
  #uses: UseRules = NO_LIMITS;
  #isMember: () => boolean = () => false;

  attach({ authenticator, recorder, tenants, uses }: IdentityApi): void {
    this.#authenticator = authenticator;
    this.#recorder = recorder;
    this.#rules = tenants;
    this.#uses = uses;
  }

  /** A node that works for a cluster knows no accounts, whatever it has kept of its own. */
  attachCluster(isMember: () => boolean): void {
    this.#isMember = isMember;
  }

  state(): AuthenticationState {
    return this.#isMember() ? 'enforce' : this.#authenticator.state();
  }

  authenticate(source: CredentialSource): Principal | Promise<Principal> {
    return this.#isMember() ? this.#strangerAtMember(source) : this.#authenticator.authenticate(source);
  }

  /** Old accounts of the node sign nobody in, and it does not judge those of the cluster. */
  async #strangerAtMember(source: CredentialSource): Promise<Principal> {
    if (CREDENTIALS.some((name) => source.headers.has(name))) throw askAController();
    try {
      const { kind } = await this.#authenticator.authenticate(source);
      if (kind === 'anonymous') return ANONYMOUS;
    } catch {
      // It was a credential, if none that this node takes.
    }
    throw askAController();
  }

  record(access: AccessRecord): void {
    this.#recorder.record(access);
  }

  tokensPerMinute(tenant: string): number | undefined {
    return this.#rules?.tokensPerMinute(tenant);
  }

  /** Whatever callers name is a tenant on a node without accounts. */
  async exists(tenant: string): Promise<boolean> {
    return (await this.#rules?.exists(tenant)) ?? true;
  }

  allowsPriority(tenant: string): boolean {
    return this.#rules?.allowsPriority(tenant) ?? true;
  }

  of(caller: Principal, kind: string): NameFilter | Promise<NameFilter> {
    return this.#uses.of(caller, kind);
  }
}
