/** Search engines that answer programs: how each is asked, and what its answer holds. */

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

interface SearchCall {
  readonly query: string;
  readonly count: number;
  readonly key: string | undefined;
}

interface SearchRequest {
  readonly url: URL;
  readonly method?: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SearchProvider {
  /** The address of its API; undefined: it is one's own server, which an administrator names. */
  readonly url: string | undefined;
  readonly needsKey: boolean;
  request(base: string, call: SearchCall): SearchRequest;
  /** Takes the hits out of the JSON of an answer. */
  read(answer: unknown): SearchHit[];
}

type Row = Readonly<Record<string, unknown>>;

const JSON_HEADERS = { accept: 'application/json' };

/** Sources: docs.searxng.org (search API), api-dashboard.search.brave.com, docs.tavily.com, help.kagi.com (search API). */
export const SEARCH_PROVIDERS = {
  searxng: {
    url: undefined,
    needsKey: false,
    request: (base, { query }) => ({ url: withQuery(base, 'search', { q: query, format: 'json' }), headers: JSON_HEADERS }),
    read: (answer) => hitsOf(rowsAt(answer, 'results'), 'content'),
  },
  brave: {
    url: 'https://api.search.brave.com/',
    needsKey: true,
    request: (base, { query, count, key = '' }) => ({
      url: withQuery(base, 'res/v1/web/search', { q: query, count: String(count) }),
      headers: { ...JSON_HEADERS, 'x-subscription-token': key },
    }),
    read: (answer) => hitsOf(rowsAt(answer, 'web', 'results'), 'description'),
  },
  tavily: {
    url: 'https://api.tavily.com/',
    needsKey: true,
    request: (base, { query, count, key = '' }) => ({
      url: new URL('search', base),
      method: 'POST',
      headers: { ...JSON_HEADERS, 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: count }),
    }),
    read: (answer) => hitsOf(rowsAt(answer, 'results'), 'content'),
  },
  kagi: {
    url: 'https://kagi.com/',
    needsKey: true,
    request: (base, { query, count, key = '' }) => ({
      url: withQuery(base, 'api/v0/search', { q: query, limit: String(count) }),
      headers: { ...JSON_HEADERS, authorization: `Bot ${key}` },
    }),
    // Rows of another kind are related searches.
    read: (answer) =>
      hitsOf(
        rowsAt(answer, 'data').filter(({ t }) => t === 0),
        'snippet',
      ),
  },
} as const satisfies Readonly<Record<string, SearchProvider>>;

export type SearchProviderName = keyof typeof SEARCH_PROVIDERS;
export const SEARCH_PROVIDER_NAMES = Object.keys(SEARCH_PROVIDERS) as SearchProviderName[];

function withQuery(base: string, path: string, query: Readonly<Record<string, string>>): URL {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/** The objects of the list at that path; none where the answer has another form. */
function rowsAt(answer: unknown, ...path: readonly string[]): Row[] {
  const found = path.reduce<unknown>((value, name) => (isRow(value) ? value[name] : undefined), answer);
  return Array.isArray(found) ? found.filter(isRow) : [];
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}

function hitsOf(rows: readonly Row[], snippet: string): SearchHit[] {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return rows
    .map((row) => ({ title: text(row['title']), url: text(row['url']), snippet: text(row[snippet]).slice(0, 1_000) }))
    .filter(({ url }) => /^https?:\/\//i.test(url));
}
