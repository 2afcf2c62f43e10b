/** Who may use which knowledge base: the caller's own tenant, what groups and the credential leave to it, and what the license has. */
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { NameFilter, UseRules } from '../../platform/module/use-rules.ts';
import type { TenantScope } from '../../platform/storage/index.ts';
import type { LicenseApi } from '../license/index.ts';
import { knowledgeError, namespaceNotFound } from './errors.ts';

export class KnowledgeAccess {
  readonly #uses: UseRules;
  readonly #license: Pick<LicenseApi, 'requireFeature' | 'has'>;

  constructor(uses: UseRules, license: Pick<LicenseApi, 'requireFeature' | 'has'>) {
    this.#uses = uses;
    this.#license = license;
  }

  /** A caller may name only its own tenant: any other is refused alike, whether or not it exists. */
  ownScope(caller: Principal, tenant: string): TenantScope {
    if (tenant === caller.tenant) return scopeOf(caller);
    throw knowledgeError('forbidden', 'You may name only your own tenant.', { param: 'tenant' });
  }

  /** A base that the caller may not use is answered like one that is not there. */
  async scopeFor(caller: Principal, tenant: string, ...namespaces: readonly string[]): Promise<TenantScope> {
    const scope = this.ownScope(caller, tenant);
    const isAllowed = await this.#uses.of(caller, 'namespaces');
    for (const namespace of namespaces) if (!isAllowed(namespace)) throw namespaceNotFound(namespace);
    return scope;
  }

  /** Whether the caller may use a base of this name. */
  async filterOf(caller: Principal): Promise<NameFilter> {
    return await this.#uses.of(caller, 'namespaces');
  }

  async usable<T extends { readonly namespace: string }>(caller: Principal, bases: readonly T[]): Promise<T[]> {
    const isAllowed = await this.#uses.of(caller, 'namespaces');
    return bases.filter(({ namespace }) => isAllowed(namespace));
  }

  /** Before something is added. Throws `feature_not_licensed` or `license_expired`. */
  requireAdding(): void {
    this.#license.requireFeature('rag');
  }

  /** Before a search: what is there is found after the license has expired, too. */
  requireSearching(): void {
    if (!this.#license.has('rag')) this.#license.requireFeature('rag');
  }
}
