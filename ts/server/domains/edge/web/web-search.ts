/** The tool `web.search`, and the provider that an administrator chose for the tenant. */
import Type from 'typebox';
import type { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { scopeOf } from '../../../platform/http/principal.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { defineTool, type Tool } from '../../../platform/tools/tool.ts';
import { edgeError } from '../errors.ts';
import { type EdgeStorage, type SearchRow, within } from '../tables.ts';
import { SEARCH_PROVIDERS, type SearchHit, type SearchProvider, type SearchProviderName } from './search-providers.ts';
import { reaching } from './web-client.ts';

interface WebSearchOptions {
  readonly storage: EdgeStorage;
  readonly client: HttpClient;
  readonly userAgent: string;
  sealingKey(): Promise<SealingKey>;
  now(): number;
}

interface ChosenProvider {
  readonly provider: SearchProviderName;
  readonly url: string | undefined;
  /** Undefined: none, or the one that is there stays. */
  readonly key: string | undefined;
}

const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
const DEFAULT_COUNT = 5;
const MOST_COUNT = 20;

export class WebSearch {
  readonly tool: Tool;
  readonly #options: WebSearchOptions;

  constructor(options: WebSearchOptions) {
    this.#options = options;
    this.tool = defineTool({
      name: 'web.search',
      description: 'Search the web. Returns titles, addresses and snippets; read a page with web.fetch.',
      input: Type.Object(
        {
          query: Type.String({ minLength: 1, maxLength: 400, pattern: '\\S' }),
          count: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_COUNT, description: 'How many results.' })),
        },
        { additionalProperties: false },
      ),
      effect: 'read',
      scope: 'tools:use',
      maxSeconds: 30,
      isUntrusted: true,
      run: async ({ caller, addresses, arguments: { query, count = DEFAULT_COUNT } }, signal) => {
        const hits = await this.#search(scopeOf(caller), { query, count }, signal);
        for (const { url } of hits) addresses?.add(url);
        return { results: hits };
      },
    });
  }

  /** Undefined: the tenant has none. */
  find(scope: TenantScope): Promise<SearchRow | undefined> {
    return this.#options.storage.read(scope, (db) =>
      db.selectFrom('edge_search').selectAll().where(within(scope)).executeTakeFirst(),
    );
  }

  /** Throws `invalid_request` where the provider lacks its address or its key. */
  async choose(scope: TenantScope, { provider, url, key }: ChosenProvider): Promise<SearchRow> {
    const { storage, sealingKey, now } = this.#options;
    const known: SearchProvider = SEARCH_PROVIDERS[provider];
    const before = await this.find(scope);
    const kept = key === undefined && before?.provider === provider ? before : undefined;
    if (url === undefined && known.url === undefined)
      throw edgeError('invalid_request', `${provider} is a server of your own: name its address in \`url\`.`, { param: 'url' });
    if (known.needsKey && key === undefined && !kept?.sealed_key)
      throw edgeError('invalid_request', `${provider} needs a key.`, { param: 'key' });
    const sealing = key === undefined ? undefined : await sealingKey();
    const row = {
      provider,
      url: url ?? null,
      sealed_key: sealing?.seal(key ?? '', contextOf(scope, provider)) ?? kept?.sealed_key ?? null,
      sealed_by: sealing?.id ?? kept?.sealed_by ?? null,
      updated_at: now(),
    };
    await storage.writeUnit(scope, (db) => [
      db
        .insertInto('edge_search')
        .values({ tenant: scope.tenant, ...row })
        .onConflict((conflict) => conflict.columns(['tenant']).doUpdateSet(row)),
    ]);
    return { tenant: scope.tenant, ...row };
  }

  async forget(scope: TenantScope): Promise<void> {
    await this.#options.storage.writeUnit(scope, (db) => [db.deleteFrom('edge_search').where('tenant', '=', scope.tenant)]);
  }

  async #search(scope: TenantScope, asked: { query: string; count: number }, signal: AbortSignal): Promise<SearchHit[]> {
    const { client, userAgent } = this.#options;
    const row = await this.find(scope);
    if (row === undefined)
      throw edgeError(
        'tool_unavailable',
        'No search provider is chosen: an administrator does it with PUT /api/v1/tools/search.',
      );
    const provider: SearchProvider = SEARCH_PROVIDERS[row.provider as SearchProviderName];
    const key = await this.#keyOf(scope, row);
    const { url, headers, ...rest } = provider.request(row.url ?? provider.url ?? '', { ...asked, key });
    const text = await reaching(url.hostname, async () => {
      const answer = await client.request(url, { ...rest, headers: { ...headers, 'user-agent': userAgent }, signal });
      if (!answer.isOk) {
        answer.discard();
        throw edgeError('fetch_failed', `The search provider ${row.provider} answered ${answer.status}.`);
      }
      return (await answer.bytes(MAX_ANSWER_BYTES)).toString();
    });
    return provider.read(parsed(text)).slice(0, asked.count);
  }

  async #keyOf(scope: TenantScope, { provider, sealed_key: sealed, sealed_by: by }: SearchRow): Promise<string | undefined> {
    if (sealed === null) return undefined;
    const sealing = await this.#options.sealingKey();
    if (sealing.id === by) return sealing.unseal(sealed, contextOf(scope, provider));
    throw edgeError('tool_unavailable', 'The key of the search provider was given to another node: give it to this one as well.');
  }
}

function contextOf({ tenant }: TenantScope, provider: string): string {
  return `search provider ${provider} of ${tenant}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw edgeError('fetch_failed', 'The search provider answered with something that is no JSON.');
  }
}
