/** Damaged files of every kind, in the real pool: each ends as a document or as a clear refusal, and none costs more than its own thread. */
import t from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { mutate } from '../../../extraction/test-support/mutations.ts';
import { sampleFiles } from '../../../extraction/test-support/sample-files.ts';
import { Extractor } from './extractor.ts';

const nFiles = iterations(1_000, 20_000, 'SVC_MUTATED_FILES');
const extractor = new Extractor({ nThreads: 2, maxMemoryMb: 512, timeoutMs: 20_000, maxQueue: 64 });
t.teardown(() => extractor.close());

t.test('the samples are sound', async (t) => {
  for (const [kind, bytes] of Object.entries(sampleFiles))
    t.match(await extractor.extract(bytes, { fileName: `sample.${kind}`, tenant: 'red' }), { outcome: 'extracted' }, kind);
});

t.test('a damaged PDF leaves the file that its thread reads next alone', async (t) => {
  const one = new Extractor({ nThreads: 1, maxMemoryMb: 512, timeoutMs: 20_000, maxQueue: 64 });
  t.teardown(() => one.close());
  const pdf = sampleFiles['pdf'] ?? Buffer.alloc(0);
  const long = Buffer.from('A line of text that takes its time.\n\n'.repeat(50_000));
  // Of these, pdf.js leaves promises behind that are rejected later.
  for (const seed of [405, 491, 702, 708, 715, 985, 1064, 1074, 1084, 1301, 1400, 1441]) {
    const damaged = one.extract(mutate(pdf, seed), { tenant: 'red' });
    const [next] = await Promise.all([one.extract(long, { fileName: 'a.txt', tenant: 'blue' }), damaged]);
    if (next.outcome !== 'extracted') t.fail(`the file behind the PDF of seed ${seed} ended as ${JSON.stringify(next)}`);
  }
  t.pass('all were read');
});

t.test(`${nFiles} damaged files end as documents or as refusals`, async (t) => {
  const samples = Object.entries(sampleFiles);
  const counts = new Map<string, number>();
  let next = 0;
  const work = async () => {
    for (let seed = next++; seed < nFiles; seed = next++) {
      const [kind = '', bytes = Buffer.alloc(0)] = samples[seed % samples.length] ?? [];
      const result = await extractor.extract(mutate(bytes, seed), { fileName: `x.${kind}`, tenant: `tenant ${seed % 2}` });
      const end = result.outcome === 'refused' ? result.code : result.outcome;
      counts.set(end, (counts.get(end) ?? 0) + 1);
      if (end.startsWith('extraction_')) t.fail(`${kind} with the seed ${seed} ended as ${end}`);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  t.comment(JSON.stringify(Object.fromEntries([...counts].sort(([, p], [, q]) => q - p))));
  t.equal(
    [...counts.values()].reduce((sum, count) => sum + count, 0),
    nFiles,
  );
  t.ok((counts.get('extracted') ?? 0) > nFiles / 20, 'some damage is survived');
  t.ok((counts.get('damaged_file') ?? 0) > nFiles / 20, 'some is found');
});
