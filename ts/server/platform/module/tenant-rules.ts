/** What a tenant may use, as whoever knows the tenants tells it. */
export interface TenantRules {
  /** Whether there is such a tenant. */
  exists(tenant: string): Promise<boolean>;
  /** Prompt and completion tokens in any minute; undefined for the node's default. */
  tokensPerMinute(tenant: string): number | undefined;
  /** Whether its requests may go before those of others. */
  allowsPriority(tenant: string): boolean;
}
