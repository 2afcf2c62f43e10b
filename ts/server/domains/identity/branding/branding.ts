/** Name, colours, words of welcome and logo of a tenant's pages. Everybody may read them, since the sign-in page shows them. */
import { createHash } from 'node:crypto';
import type { Principal } from '../../../platform/http/principal.ts';
import { type TenantScope, tenantScope } from '../../../platform/storage/index.ts';
import type { Tenants } from '../accounts/tenants.ts';
import { type AuditSource, auditEntry } from '../audit/audit-entry.ts';
import { identityError } from '../errors.ts';
import type { BrandingRow } from '../tables.ts';
import { contrastFault, type Scheme } from './accent-contrast.ts';
import type { BrandingStore } from './branding-store.ts';
import { encodeLogo } from './logo-image.ts';

/** Null: that of the product. */
export interface Theme {
  name: string | null;
  accent: string | null;
  accent_dark: string | null;
  welcome: string | null;
}

interface Logo {
  png: Uint8Array;
  hash: string;
}

interface BrandingDeps {
  store: BrandingStore;
  tenants: Tenants;
  /** Test override. */
  encode?: (file: Uint8Array) => Promise<Uint8Array>;
}

const PLAIN: Theme = { name: null, accent: null, accent_dark: null, welcome: null };

export class Branding {
  readonly #deps: BrandingDeps;

  constructor(deps: BrandingDeps) {
    this.#deps = deps;
  }

  /** A tenant that chose nothing looks like one that does not exist: the product's own theme. */
  async theme(tenant: string): Promise<Theme & { logo_hash: string | null }> {
    const row = await this.#deps.store.find(tenantScope(tenant));
    return row === undefined ? { ...PLAIN, logo_hash: null } : themeOf(row);
  }

  async logo(tenant: string): Promise<Logo> {
    const row = await this.#deps.store.find(tenantScope(tenant));
    if (row?.logo == null || row.logo_hash === null) throw identityError('logo_not_found', 'The tenant has no logo.');
    return { png: row.logo, hash: row.logo_hash };
  }

  /** Throws `tenant_not_found` for a tenant that the caller does not administer, and `accent_unreadable`. */
  async setTheme(tenant: string, theme: Theme, source: AuditSource): Promise<Theme & { logo_hash: string | null }> {
    const scope = await this.#administered(tenant, source.caller);
    requireReadable('accent', theme.accent, 'light');
    requireReadable('accent_dark', theme.accent_dark, 'dark');
    const entry = auditEntry(source, { action: 'tenant.theme', tenant, target: tenant, detail: { ...theme } });
    return themeOf(await this.#deps.store.change(scope, theme, entry));
  }

  async setLogo(
    tenant: string,
    file: AsyncIterable<Uint8Array>,
    source: AuditSource,
  ): Promise<Theme & { logo_hash: string | null }> {
    const scope = await this.#administered(tenant, source.caller);
    const chunks: Uint8Array[] = [];
    for await (const chunk of file) chunks.push(chunk);
    const logo = await (this.#deps.encode ?? encodeLogo)(Buffer.concat(chunks));
    const hash = createHash('sha256').update(logo).digest('hex').slice(0, 16);
    const entry = auditEntry(source, {
      action: 'tenant.logo',
      tenant,
      target: tenant,
      detail: { size_bytes: logo.length, hash },
    });
    return themeOf(await this.#deps.store.change(scope, { logo, logo_hash: hash }, entry));
  }

  async removeLogo(tenant: string, source: AuditSource): Promise<void> {
    const scope = await this.#administered(tenant, source.caller);
    const entry = auditEntry(source, { action: 'tenant.logo', tenant, target: tenant, detail: { removed: true } });
    await this.#deps.store.change(scope, { logo: null, logo_hash: null }, entry);
  }

  async #administered(tenant: string, caller: Principal): Promise<TenantScope> {
    return tenantScope(await this.#deps.tenants.administered(tenant, caller));
  }
}

function themeOf({ name, accent, accent_dark, welcome, logo_hash }: BrandingRow): Theme & { logo_hash: string | null } {
  return { name, accent, accent_dark, welcome, logo_hash };
}

function requireReadable(param: string, colour: string | null, scheme: Scheme): void {
  const contrast = colour === null ? undefined : contrastFault(colour, scheme);
  if (contrast === undefined) return;
  const advice = scheme === 'light' ? 'darker' : 'lighter';
  const found = `${colour} has a contrast of ${contrast.toFixed(1)} on the pages' ${scheme} surfaces, and text needs 4.5`;
  throw identityError('accent_unreadable', `${found}: choose a ${advice} one.`, { param });
}
