/** Each search engine is asked in its way, and its answers are read. */
import fc from 'fast-check';
import t from 'tap';
import { SEARCH_PROVIDER_NAMES, SEARCH_PROVIDERS, type SearchProvider } from './search-providers.ts';

const call = { query: 'a & b', count: 3, key: 'planted' };
const hit = { title: 'T', url: 'https://example.org/', snippet: 'S' };

const samples: Record<
  (typeof SEARCH_PROVIDER_NAMES)[number],
  { url: string; key?: [name: string, value: string]; answer: object }
> = {
  searxng: {
    url: 'http://search.lan/search?q=a+%26+b&format=json',
    answer: { results: [{ title: 'T', url: hit.url, content: 'S' }, { url: 'javascript:alert(1)' }, 7] },
  },
  brave: {
    url: 'https://api.search.brave.com/res/v1/web/search?q=a+%26+b&count=3',
    key: ['x-subscription-token', 'planted'],
    answer: { web: { results: [{ title: 'T', url: hit.url, description: 'S' }] } },
  },
  tavily: {
    url: 'https://api.tavily.com/search',
    key: ['authorization', 'Bearer planted'],
    answer: { results: [{ title: 'T', url: hit.url, content: 'S', score: 0.9 }] },
  },
  kagi: {
    url: 'https://kagi.com/api/v0/search?q=a+%26+b&limit=3',
    key: ['authorization', 'Bot planted'],
    answer: {
      data: [
        { t: 0, title: 'T', url: hit.url, snippet: 'S' },
        { t: 1, list: ['related'] },
      ],
    },
  },
};

for (const name of SEARCH_PROVIDER_NAMES) {
  t.test(`${name} is asked and read`, async (t) => {
    const provider: SearchProvider = SEARCH_PROVIDERS[name];
    const { url, key, answer } = samples[name];
    const request = provider.request(provider.url ?? 'http://search.lan/', call);
    t.equal(request.url.href, url);
    if (key !== undefined) t.equal(request.headers[key[0]], key[1]);
    t.equal(provider.needsKey, key !== undefined);
    t.notMatch(request.url.href, 'planted', 'a key is in no address');
    if (request.method === 'POST') t.strictSame(JSON.parse(request.body ?? ''), { query: 'a & b', max_results: 3 });
    t.strictSame(provider.read(answer), [hit]);
  });

  t.test(`${name}: any JSON is read as hits or none`, async () => {
    fc.assert(fc.property(fc.jsonValue(), (answer) => Array.isArray((SEARCH_PROVIDERS[name] as SearchProvider).read(answer))));
  });
}
