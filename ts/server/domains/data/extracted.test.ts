/** Files whose text was extracted: their places reach the answer, whether they are indexed at once or in the background. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { tenantScope } from '../../platform/storage/index.ts';
import { openKnowledgeBed } from './test-support/knowledge-bed.ts';

async function newDatabase() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-data-'));
  return { url: `sqlite:${join(folder, 'svc.db')}`, remove: () => rm(folder, { recursive: true }) };
}

const red = tenantScope('red');

t.test('page, sheet and slide are those of the block that was found', async (t) => {
  const { api, search } = await openKnowledgeBed(t, newDatabase);
  const { base } = await api.service.baseFor(red, 'kb');
  const blocks = [
    { type: 'heading' as const, level: 1, text: 'Harbours', page: 1 },
    { type: 'paragraph' as const, text: 'The lighthouse of Karvo was built in 1893.', page: 1 },
    { type: 'paragraph' as const, text: 'The bakery sells rye bread in the morning.', page: 2 },
    { type: 'table-row' as const, text: 'Port: Lind | Ships: 12', sheet: 'Ports' },
    { type: 'note' as const, text: 'Say hello to the harbour master.', slide: 4 },
  ];
  const outcome = await api.ingestion.addExtracted(
    red,
    base,
    { source: 'a.pdf' },
    { kind: 'text', title: 'Guide', blocks },
    facts('1'),
  );
  t.match(outcome, { document: { isNew: true, nChunks: 4 } });
  const best = async (query: string) => (await search(query)).body.results[0];
  t.match(await best('When was the lighthouse built?'), { page: 1, heading: 'Harbours', title: 'Guide' });
  t.match(await best('rye bread'), { page: 2, heading: 'Harbours' });
  t.match(await best('How many ships has Lind?'), { sheet: 'Ports' });
  t.match(await best('hello harbour master'), { slide: 4 });
  t.match(
    await api.ingestion.addExtracted(red, base, { source: 'a.pdf' }, { kind: 'text', title: 'Guide', blocks }, facts('1')),
    {
      document: { isNew: false },
    },
  );
});

t.test('a large file is indexed in the background with its pages', async (t) => {
  const { api, search, jobEnd, ask } = await openKnowledgeBed(t, newDatabase);
  const { base } = await api.service.baseFor(red, 'kb');
  const blocks = Array.from({ length: 1_500 }, (_, i) => ({
    type: 'paragraph' as const,
    text: `Page ${i + 1} tells of the ship with the number ${(i + 1) * 13}. ${'Much else stands here. '.repeat(8)}`,
    page: i + 1,
  }));
  const outcome = await api.ingestion.addExtracted(red, base, { source: 'big.pdf' }, { kind: 'pdf', blocks }, facts('2'));
  if (!('jobId' in outcome)) return t.fail('it was not large');
  t.match(await jobEnd(outcome.jobId), { state: 'done', result: { chunks: 1_500 } });
  t.match((await search(`ship with the number ${777 * 13}`)).body.results[0], { page: 777, source: 'big.pdf' });
  t.match((await ask('GET', 'namespaces/red/kb/documents')).body.data, [{ kind: 'pdf', chunks: 1_500, sha256: '2'.repeat(64) }]);
});

function facts(digit: string) {
  return { sha256: digit.repeat(64), sizeBytes: 1_000 };
}
