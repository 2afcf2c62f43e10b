import t from 'tap';
import { headingsInMarkdown, namesInSource, wordsOf } from './names.ts';

t.test('a name is the same words in every spelling', async (t) => {
  for (const name of [
    'kvCacheHits',
    'KVCacheHits',
    'kv_cache_hits',
    '#kvCacheHits',
    'inference.kv_cache_hits',
    '## KV cache: hits',
  ])
    t.strictSame(wordsOf(name).slice(-3), ['kv', 'cache', 'hits'], name);
});

t.test('identifiers, members, private members and keys are names; prose and comments are not', async (t) => {
  const source = [
    '/** A comment about doors. */',
    "const title = 'a door, in prose';",
    'class Meter { #seconds = 1; waitMs(): number { return this.#seconds; } }',
    "metrics.counter('svc_requests_total', `inference.max_queue_seconds`);",
  ].join('\n');
  const names = namesInSource('ts/meter.ts', source);
  t.strictSame(
    [...new Set(names.map(({ text }) => text))],
    [
      'meter.ts',
      'title',
      'Meter',
      '#seconds',
      'waitMs',
      'metrics',
      'counter',
      'svc_requests_total',
      'inference.max_queue_seconds',
    ],
  );
  t.equal(names.find(({ text }) => text === 'counter')?.line, 4);
});

t.test('JavaScript is read too', async (t) => {
  t.match(namesInSource('scripts/a.mjs', 'export const lease = 1;'), [{ text: 'a.mjs' }, { text: 'lease', line: 1 }]);
});

t.test('headings are read, comments in fenced code are not', async (t) => {
  const source = ['# One', 'text # no heading', '```sh', '# a comment', '```', '### Two'].join('\n');
  t.strictSame(headingsInMarkdown(source), [
    { text: '# One', line: 1 },
    { text: '### Two', line: 6 },
  ]);
});
