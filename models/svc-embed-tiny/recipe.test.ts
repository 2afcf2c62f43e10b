/** A shortened run of the recipe: from nothing to a model file that the engine reads as PyTorch does. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LlamaModel } from '../../ts/server/native/llama.ts';
import { cosine } from '../eval/ranking.ts';
import { findPython, runScript } from '../recipe/python.ts';

interface Sample {
  nVocab: number;
  cases: { text: string; ids: number[]; vector: number[] }[];
}

const short = ['--bag-steps', '1', '--steps', '2', '--articles', '1'];

const python = await findPython(['torch', 'numpy', 'yaml']);
if (process.env['SVC_TEST_FULL'] !== '1') t.plan(0, 'trains a model: npm run test:full does');
else if (!python)
  t.plan(0, 'needs Python with PyTorch: apt-get install python3-torch libopenblas0-pthread python3-numpy python3-yaml');
else await testRecipe(python);

async function testRecipe(python: string): Promise<void> {
  const folder = t.testdir();
  const file = join(folder, 'run.gguf');
  const train = (name: string, ...args: string[]) =>
    runScript(python, 'svc-embed-tiny/train.py', ['--out', join(folder, name), ...short, ...args]);
  const sampleOf = async (name: string): Promise<Sample> =>
    JSON.parse(
      await runScript(python, 'svc-embed-tiny/sample.py', ['--run', join(folder, name), '--out', join(folder, `${name}.gguf`)]),
    );
  await train('run');
  const sample = await sampleOf('run');

  t.test('the server cuts texts into the tokens that training saw', async (t) => {
    const model = await LlamaModel.load({ path: file, vocabOnly: true });
    t.equal(model.info.nVocab, sample.nVocab);
    for (const { text, ids } of sample.cases) {
      t.same([...(await model.tokenize(text, { addSpecial: true }))], ids, text.slice(0, 40));
    }
    await model.close();
  });

  t.test('the server computes the vectors that training computed', async (t) => {
    const model = await LlamaModel.load({ path: file });
    const embedder = await model.createEmbedder();
    const { vectors } = await embedder.embed(
      sample.cases.map(({ text }) => text),
      { tenant: 'test' },
    );
    for (const [i, { text, vector }] of sample.cases.entries()) {
      const likeness = cosine(vectors[i] ?? new Float32Array(), Float32Array.from(vector));
      t.ok(likeness > 0.999, `${text.slice(0, 40)}: ${likeness}`);
    }
    await embedder.close();
    await model.close();
  });

  t.test('a run that was interrupted ends with the same model', async (t) => {
    await train('interrupted', '--pause-at', '2');
    await train('interrupted');
    t.same(await sampleOf('interrupted'), sample);
    t.ok(readFileSync(join(folder, 'interrupted.gguf')).equals(readFileSync(file)));
  });
}
