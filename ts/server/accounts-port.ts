/**
 * The port that tells who is calling and what tenants may use, as the identity module tells it. The module is made with the other modules, which
 * are given this port before; a program without the module, as tests make it, has no accounts.
 */
import type { ClusterApi } from './domains/cluster/index.ts';
import type { IdentityApi } from './domains/identity/index.ts';
import { type AccessRecord, type AccessRecorder, NO_RECORDS } from './platform/http/access-recorder.ts';
import {
  type AuthenticationState,
  type Authenticator,
  type CredentialSource,
  NO_ACCOUNTS,
} from './platform/http/authenticator.ts';
import { ANONYMOUS, type Principal } from './platform/http/principal.ts';
import type { TenantRules } from './platform/module/tenant-rules.ts';
import { type NameFilter, NO_LIMITS, type UseRules } from './platform/module/use-rules.ts';

/** In which programs send their credentials. */
const CREDENTIALS = ['authorization', 'x-api-key'];

export class AccountsPort implements Authenticator, AccessRecorder, TenantRules, UseRules {
  #authenticator: Authenticator = NO_ACCOUNTS;
  #recorder: AccessRecorder = NO_RECORDS;
  #rules: TenantRules | undefined;
  #uses: UseRules = NO_LIMITS;
  #localAdmin: IdentityApi['localAdmin'] = () => undefined;
  #cluster: Pick<ClusterApi, 'isMember' | 'enforces' | 'authenticate'> | undefined;

  attach({ authenticator, localAdmin, recorder, tenants, uses }: IdentityApi): void {
    this.#authenticator = authenticator;
    this.#localAdmin = localAdmin;
    this.#recorder = recorder;
    this.#rules = tenants;
    this.#uses = uses;
  }

  /**
   * A node that works for a cluster knows no accounts, whatever it has kept of its own: it asks where they are. The token of its machine alone it judges
   * itself, so that a standby can be promoted when nobody is left to ask.
   */
  attachCluster(cluster: Pick<ClusterApi, 'isMember' | 'enforces' | 'authenticate'>): void {
    this.#cluster = cluster;
  }

  get #isMember(): boolean {
    return this.#cluster?.isMember === true;
  }

  state(): AuthenticationState {
    return this.#cluster?.enforces === true ? 'enforce' : this.#authenticator.state();
  }

  authenticate(source: CredentialSource): Principal | Promise<Principal> {
    if (!this.#isMember) {
      // A node without accounts asks for credentials all the same, and its machine has one.
      const admin = this.#cluster?.enforces === true ? this.#localAdmin(source) : undefined;
      return admin ?? this.#authenticator.authenticate(source);
    }
    const isProgram = CREDENTIALS.some((name) => source.headers.has(name));
    if (!isProgram && !source.headers.has('cookie')) return ANONYMOUS;
    const admin = this.#localAdmin(source);
    if (admin !== undefined) return admin;
    return isProgram || source.path.startsWith('/api/')
      ? this.#ofCluster(source)
      : // A browser shows its session for every picture of a page, which anybody may have.
        this.#ofCluster(source).catch(() => ANONYMOUS);
  }

  #ofCluster(source: CredentialSource): Promise<Principal> {
    return (this.#cluster as Pick<ClusterApi, 'authenticate'>).authenticate(source);
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
