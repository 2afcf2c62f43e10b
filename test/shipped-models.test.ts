/** The models that this repository ships, as a user meets them after the first start. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cosine } from '../models/eval/ranking.ts';
import { placeShippedModels } from '../scripts/setup/shipped-models.mjs';
import { post, send } from './http.ts';
import { startServer } from './server.ts';

const folder = t.testdir();
await placeShippedModels(join(import.meta.dirname, '..'), join(folder, 'models'));
const server = await startServer(t, { folder });

async function embed(input: string[]): Promise<Float32Array[]> {
  const { status, json } = await post(`${server.url}/v1/embeddings`, { model: 'svc-embed-tiny', input });
  t.equal(status, 200);
  const { data } = json as unknown as { data: { embedding: number[] }[] };
  return data.map(({ embedding }) => Float32Array.from(embedding));
}

t.test('svc-embed-tiny says of itself that it is a demonstration', async (t) => {
  const { json } = await send(`${server.url}/v1/models`);
  t.match(JSON.stringify(json), /svc-embed-tiny[^{]*demonstration/i);
  t.ok(statSync(join(folder, 'models', 'svc-embed-tiny.gguf')).size < 12e6);
});

t.test('a question is nearest to the passage that answers it, in English and in German', async (t) => {
  const passages = [
    'The lighthouse of Quorlen was finished in 1874; its keeper lived on the island with two goats.',
    'Der Leuchtturm von Quorlen wurde 1874 fertig; sein Wärter lebte mit zwei Ziegen auf der Insel.',
    'Vaccines train the immune system, so that it recognises a virus when it comes.',
    'Der Zug nach Bremen fährt wegen einer Baustelle vierzig Minuten später ab.',
  ];
  const questions = ['When was the Quorlen lighthouse completed?', 'Wie viele Ziegen hatte der Leuchtturmwärter von Quorlen?'];
  const vectors = await embed([...questions, ...passages]);
  for (const [i, question] of questions.entries()) {
    const own = vectors[i] ?? new Float32Array();
    const scores = vectors.slice(questions.length).map((vector) => cosine(own, vector));
    t.equal(scores.indexOf(Math.max(...scores)), i, `${question} ${scores}`);
  }
});

t.test('a word is nearer to its misspelling, its plural, its compound and its translation than to another word', async (t) => {
  const [word, other, ...forms] = await embed([
    'government',
    'violin',
    'goverment',
    'governments',
    'government-building',
    'Regierung',
  ]);
  const likeness = (to: Float32Array | undefined) => cosine(word ?? new Float32Array(), to ?? new Float32Array());
  for (const form of forms) t.ok(likeness(form) > likeness(other), `${likeness(form)} ${likeness(other)}`);
});
