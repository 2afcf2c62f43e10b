import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ProbeResults } from './probe-results.ts';

const abilities = { answers: 1, tasks: 24 };
const never = new AbortController().signal;

t.test(
  'what was found is known of the file, of a copy under another name, and after a restart; not of another file',
  async (t) => {
    const folder = t.testdir({ 'a.gguf': 'GGUF one', 'b.gguf': 'GGUF two' });
    const model = (name: string) => ({ path: join(folder, name), sizeBytes: 8, createdAt: 5 });
    const results = new ProbeResults(folder);
    t.equal(results.find(model('a.gguf')), undefined);
    await results.keep(model('a.gguf'), abilities, never);
    t.strictSame(results.find(model('a.gguf')), abilities);
    const next = new ProbeResults(folder);
    t.strictSame(next.find(model('a.gguf')), abilities);
    t.equal(next.find({ ...model('a.gguf'), createdAt: 6 }), undefined, 'the file has changed');
    t.equal(await next.findByContent(model('b.gguf'), never), undefined);
    renameSync(join(folder, 'a.gguf'), join(folder, 'c.gguf'));
    t.equal(next.find(model('c.gguf')), undefined);
    t.strictSame(await next.findByContent(model('c.gguf'), never), abilities);
    t.strictSame(new ProbeResults(folder).find(model('c.gguf')), abilities);
  },
);

t.test('a damaged file of results is like none', async (t) => {
  const folder = t.testdir({ 'a.gguf': 'GGUF one' });
  const file = join(folder, 'probed-models.json');
  const model = { path: join(folder, 'a.gguf'), sizeBytes: 8, createdAt: 5 };
  for (const text of ['', '{', 'null', '{"format":1}', '{"format":1,"abilities":{"a":{"answers":7}},"files":{}}']) {
    writeFileSync(file, text);
    const results = new ProbeResults(folder);
    t.equal(results.find(model), undefined, text);
    await results.keep(model, abilities, never);
    t.match(JSON.parse(readFileSync(file, 'utf8')), { format: 1 });
  }
});
