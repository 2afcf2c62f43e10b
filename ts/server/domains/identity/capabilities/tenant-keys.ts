/**
 * The pairs of keys that sign capability tokens: one for each tenant, made with its first token. Every node of a database can verify with
 * the public key. The private key is sealed with the key of the node that made it (SealingKey), so on a database of several nodes each of
 * them that signs makes a pair of its own.
 */
import { randomInt } from 'node:crypto';
import { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { type StorageError, tenantScope } from '../../../platform/storage/index.ts';
import { tenantNotFound } from '../accounts/tenants.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import type { CapabilityKeyRow } from '../tables.ts';
import type { CapabilityStore } from './capability-store.ts';
import { newKeyPair, type SigningKey } from './capability-token.ts';

export class TenantKeys {
  readonly #store: CapabilityStore;
  readonly #sealingKeyPath: string;
  #sealingKey: Promise<SealingKey> | undefined;

  constructor(store: CapabilityStore, sealingKeyPath: string) {
    this.#store = store;
    this.#sealingKeyPath = sealingKeyPath;
  }

  /** Makes the pair when the tenant has none that this node can use. */
  async signingKey(tenant: string, source: AuditSource): Promise<SigningKey> {
    const sealing = await this.sealingKey();
    const scope = tenantScope(tenant);
    const known = await this.#store.findSigningKey(scope, sealing.id);
    const row = known ?? (await this.#make(tenant, sealing, source));
    return { number: row.number, privateKey: sealing.unseal(row.private_key, contextOf(row)) };
  }

  async #make(tenant: string, sealing: SealingKey, source: AuditSource): Promise<CapabilityKeyRow> {
    const scope = tenantScope(tenant);
    const { publicKey, privateKey } = await newKeyPair();
    // Random, so that tokens of another installation hardly ever name a key of this one.
    const named = { tenant, number: randomInt(1, 2 ** 32) };
    const row: CapabilityKeyRow = {
      ...named,
      sealed_by: sealing.id,
      public_key: publicKey,
      private_key: sealing.seal(privateKey, contextOf(named)),
      created_at: Date.now(),
    };
    const entry = auditEntry(source, { action: 'capability.key', tenant, target: String(row.number) });
    const isAdded = await this.#store.addKey(scope, row, entry).catch(async (error: StorageError) => {
      // Another request was faster.
      if (error.code === 'unique_violation') return undefined;
      throw error;
    });
    if (isAdded === false) throw tenantNotFound(tenant);
    if (isAdded === true) return row;
    return (await this.#store.findSigningKey(scope, sealing.id)) ?? this.#make(tenant, sealing, source);
  }

  /** That of the node, for all that it keeps secret: it is made once. */
  sealingKey(): Promise<SealingKey> {
    this.#sealingKey ??= SealingKey.open(this.#sealingKeyPath).catch((error: unknown) => {
      this.#sealingKey = undefined;
      throw error;
    });
    return this.#sealingKey;
  }
}

function contextOf({ tenant, number }: Pick<CapabilityKeyRow, 'tenant' | 'number'>): string {
  return `capability key ${number} of ${tenant}`;
}
