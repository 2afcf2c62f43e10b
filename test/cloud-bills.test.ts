/** Providers bill what this node has counted, to the millionth, over many mixed requests through each kind. */
import t, { type Test } from 'tap';
import type { SeededRandom } from '../models/random/seeded-random.ts';
import type { KindName } from '../ts/server/domains/cloud/kinds/kind.ts';
import { post, sendJson } from './http.ts';
import { PROVIDERS } from './providers/dialects.ts';
import { type Billed, type ProviderServer, startProvider } from './providers/provider-server.ts';
import { startServer } from './server.ts';
import { iterations } from './test-support/iterations.ts';
import { random } from './test-support/seed.ts';

t.setTimeout(900_000);

const nRequests = iterations(600, 10_000, 'SVC_TEST_BILLED_REQUESTS');
const N_AT_ONCE = 24;
const KINDS = ['openai', 'azure', 'anthropic', 'gemini', 'bedrock', 'ollama'] as const satisfies KindName[];

const PRICES = {
  input: '1.37',
  output: '7.913',
  cache_read: '0.1234567',
  cache_write_5m: '1.700000001',
  reasoning: '9.1',
  currency: 'EUR',
};

interface Line {
  id: string;
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  cost_micros: number | null;
  estimated: boolean;
  unpriced_requests: number;
}

const { url } = await startServer(t, {
  models: {},
  env: { SVC_CLOUD_ALLOWED_HOSTS: 'http://127.0.0.1', SVC_LOG_LEVEL: 'error' },
});

/** The bill of one answer, as a provider writes it: each price times its tokens, rounded once to the millionth. */
function billOf({ prompt, cached, written, completion, reasoning }: Billed): bigint {
  const price = (text: string): bigint => {
    const [whole = '0', part = ''] = text.split('.');
    return BigInt(whole + part.padEnd(9, '0'));
  };
  const exact =
    BigInt(prompt - cached - written) * price(PRICES.input) +
    BigInt(cached) * price(PRICES.cache_read) +
    BigInt(written) * price(PRICES.cache_write_5m) +
    BigInt(completion - reasoning) * price(PRICES.output) +
    BigInt(reasoning) * price(PRICES.reasoning);
  return (exact + 500_000_000n) / 1_000_000_000n;
}

async function register(kind: KindName, id: string, provider: ProviderServer): Promise<void> {
  const { path, more } = PROVIDERS[kind];
  const model = `${id}-model`;
  provider.models = [model];
  const body = {
    id,
    kind,
    base_url: provider.origin + path,
    ...more,
    model_filter: { include: [model] },
    prices: { [model]: PRICES },
    timeouts: { connect_ms: 5000, first_byte_ms: 30_000, idle_ms: 30_000 },
  };
  const made = await post(`${url}/api/v1/cloud/backends`, body);
  if (made.status !== 201) throw new Error(made.text);
}

/** The three APIs, whole and as streams. */
function ask(model: string, content: string, draw: SeededRandom) {
  const stream = draw.integer(2) === 0;
  const messages = [{ role: 'user', content }];
  const forms: [path: string, body: object][] = [
    ['/v1/chat/completions', { messages }],
    ['/v1/messages', { messages, max_tokens: 4000 }],
    ['/v1/responses', { input: content, store: false }],
  ];
  const [path, body] = forms[draw.integer(forms.length)] as [string, object];
  return post(url + path, { model, stream, ...body });
}

async function inTurn(n: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < n) await work(next++);
  };
  await Promise.all(Array.from({ length: N_AT_ONCE }, worker));
}

const lineOf = async (id: string): Promise<Line> => {
  const { data } = await sendJson<{ data: Line[] }>(url, '/api/v1/metering/usage?by=backend&limit=1000');
  return data.find((line) => line.id === id) as Line;
};

async function provide(t: Test, kind: KindName, id: string): Promise<ProviderServer> {
  const provider = await startProvider(t, PROVIDERS[kind].dialect);
  await register(kind, id, provider);
  return provider;
}

t.test(`${nRequests} mixed requests: what was reported is counted to the millionth`, async (t) => {
  const providers = new Map<KindName, ProviderServer>();
  for (const kind of KINDS) {
    const provider = await provide(t, kind, kind);
    providers.set(kind, provider);
    // Each kind says what its API has words for.
    const writes = kind === 'anthropic' || kind === 'bedrock';
    const thinks = kind === 'openai' || kind === 'azure' || kind === 'gemini';
    provider.say = () => {
      const prompt = 1 + random.integer(200_000);
      const cached = kind === 'ollama' ? 0 : random.integer(prompt);
      const written = writes ? random.integer(prompt - cached) : 0;
      const completion = 1 + random.integer(8_000);
      const reasoning = thinks ? random.integer(completion) : 0;
      return { texts: ['Some', ' words'], tokens: { prompt, cached, written, completion, reasoning } };
    };
  }
  const statuses: Record<string, number> = {};
  await inTurn(nRequests, async (i) => {
    const kind = KINDS[i % KINDS.length] as KindName;
    // One in fifty is refused before it says anything, and asked for again.
    if (random.chance(0.02)) providers.get(kind)?.script.push({ status: 503 });
    const { status } = await ask(`${kind}-model`, `Question ${i}`, random);
    statuses[status] = (statuses[status] ?? 0) + 1;
  });
  t.strictSame(statuses, { 200: nRequests });
  let nBilled = 0;
  for (const [kind, { billed }] of providers) {
    const line = await lineOf(kind);
    const bill = billed.reduce((sum, tokens) => sum + billOf(tokens), 0n);
    nBilled += billed.length;
    t.equal(BigInt(line.cost_micros ?? -1), bill, `${kind}: the bill`);
    t.equal(line.requests, billed.length, `${kind}: the answers`);
    t.equal(
      line.prompt_tokens,
      billed.reduce((sum, { prompt }) => sum + prompt, 0),
      `${kind}: prompts`,
    );
    t.equal(
      line.completion_tokens,
      billed.reduce((sum, { completion }) => sum + completion, 0),
      `${kind}: completions`,
    );
    t.equal(line.estimated, false, `${kind}: nothing is estimated`);
    t.equal(line.unpriced_requests, 0);
  }
  t.equal(nBilled, nRequests);
});

t.test('what was cut or not reported is marked, never 0, and within a tenth', async (t) => {
  const nOfKind = Math.ceil(nRequests / 20);
  for (const kind of KINDS) {
    const id = `${kind}-cut`;
    const provider = await provide(t, kind, id);
    const reports = kind === 'openai' || kind === 'azure';
    const texts = ['An answer that goes on for a while, '.repeat(20), 'and then it ends.'];
    // Some say what the prompt was before they begin.
    provider.say = (body) => {
      const prompt = Math.ceil(JSON.stringify(body).length / 4);
      return { texts, tokens: { prompt, cached: 0, written: 0, completion: 1, reasoning: 0 } };
    };
    let bill = 0n;
    await inTurn(nOfKind, async (i) => {
      const content = 'A question of some length, with words. '.repeat(50 + (i % 50));
      const isCut = !reports || i % 2 === 0;
      provider.script.push(isCut ? 'cut' : 'no-usage');
      await ask(`${id}-model`, content, random);
      const said = isCut ? (texts[0] ?? '') : texts.join('');
      const completion = Math.ceil(said.length / 4);
      bill += billOf({ prompt: Math.ceil(content.length / 4), cached: 0, written: 0, completion, reasoning: 0 });
    });
    const { cost_micros: cost, estimated } = await lineOf(id);
    t.ok(estimated, `${id} is marked`);
    const share = (cost ?? 0) / Number(bill);
    t.ok(share > 0.9 && share < 1.1, `${id}: ${share.toFixed(3)} of the bill`);
  }
});
