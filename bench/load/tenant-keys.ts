/** The tenants of a trial, who are told apart by their API keys. */
import type { WantedTenant } from '../../test/tenant-keys.ts';

/** What the metered tenant may use in any minute, prompts and completions together. */
export const meteredTokensPerMinute = 3_000;

export const benchTenants = {
  quiet: {},
  flood: {},
  metered: { tokensPerMinute: meteredTokensPerMinute },
} as const satisfies Record<string, WantedTenant>;

/** By tenant; a server without accounts has none. */
export type TenantKeys = Readonly<Record<keyof typeof benchTenants, string>>;
