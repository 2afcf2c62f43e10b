/** The API keys by which the tenants of a trial are told apart; they protect nothing. */
export const tenantKeys = {
  quiet: 'bench-quiet-tenant',
  flood: 'bench-flooding-tenant',
  metered: 'bench-metered-tenant',
} as const;

/** What the metered tenant may use in any minute, prompts and completions together. */
export const meteredTokensPerMinute = 3_000;
