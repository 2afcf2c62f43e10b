import t from 'tap';
import { type EmbeddingAnswer, embeddingChunks } from './answer.ts';

const small = {
  model: 'a "model"',
  vectors: [Float32Array.of(0.5, -0.25), Float32Array.of(1, 0)],
  isBase64: false,
  nTokens: 7,
};

async function read(answer: EmbeddingAnswer): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of embeddingChunks(answer)) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function expected(embeddings: unknown[]): unknown {
  const data = embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', model: 'a "model"', data, usage: { prompt_tokens: 7, total_tokens: 7 } };
}

t.test('the chunks together are the answer, with numbers', async (t) => {
  t.strictSame(
    await read(small),
    expected([
      [0.5, -0.25],
      [1, 0],
    ]),
  );
});

t.test('the same with base64', async (t) => {
  t.strictSame(await read({ ...small, isBase64: true }), expected(['AAAAPwAAgL4=', 'AACAPwAAAAA=']));
});

const many = Array.from({ length: 2_048 }, (_, row) => Float32Array.from({ length: 1_024 }, (_, i) => Math.sin(row + i) / 16));

t.test('the event loop goes on turning while thousands of vectors are written', async (t) => {
  let nTurns = 0;
  let isDone = false;
  const turn = (): void => {
    nTurns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const { data } = (await read({ ...small, vectors: many })) as { data: { embedding: number[] }[] };
  isDone = true;
  t.ok(nTurns >= 10, `${nTurns} turns`);
  t.strictSame(
    data.map(({ embedding }) => Float32Array.from(embedding)),
    many,
  );
});
