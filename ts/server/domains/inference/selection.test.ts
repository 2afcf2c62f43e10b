import t from 'tap';
import type { ModelCapabilities, ModelCard } from './backend.ts';
import { findModel } from './model-name.ts';
import { selectChatModel, selectExactModel } from './selection.ts';

const none: ModelCapabilities = { chat: false, tools: false, vision: false, thinking: false, embeddings: false, rerank: false };

function card(
  id: string,
  family: string,
  abilities: Partial<ModelCapabilities>,
  state: ModelCard['state'] = 'unloaded',
): ModelCard {
  const capabilities = { ...none, ...abilities };
  return {
    id,
    family,
    capabilities,
    state,
    kind: 'chat',
    architecture: family,
    nCtxTrain: 1,
    sizeBytes: 1,
    createdAt: 0,
    ownedBy: 'local',
  };
}

const cards = [
  card('qwen3-4b-q4_k_m', 'qwen', { chat: true, tools: true }),
  card('qwen1-base', 'qwen', { chat: true }),
  card('llama-3', 'llama', { chat: true, vision: true }, 'loaded'),
  card('bge-m3-q8_0', 'bert', { embeddings: true }),
];

const select = (model: string, needs: { needsTools?: boolean; needsVision?: boolean } = {}, preferred?: string) =>
  selectChatModel(cards, { model, needsTools: false, needsVision: false, ...needs }, preferred);

t.test('the model that was asked for answers, also by a shorter or differently written name', async (t) => {
  for (const name of ['qwen3-4b-q4_k_m', 'QWEN3-4B-Q4_K_M', 'qwen3-4b', 'qwen3-4b:latest']) {
    t.match(select(name), { card: { id: 'qwen3-4b-q4_k_m' }, isSubstitute: false });
  }
});

t.test('a name is not completed by anything but a quantisation', async (t) => {
  t.equal(findModel(cards, 'qwen3'), undefined);
  t.equal(findModel(cards, 'bge-m3')?.id, 'bge-m3-q8_0');
});

t.test('an unknown model is answered by the default, else by one in memory', async (t) => {
  t.match(select('gpt-4o', {}, 'qwen1-base'), { card: { id: 'qwen1-base' }, isSubstitute: true });
  t.match(select('gpt-4o'), { card: { id: 'llama-3' }, isSubstitute: true });
});

t.test('an embedding model asked to chat is answered by one that chats', async (t) => {
  t.match(select('bge-m3'), { card: { id: 'llama-3' }, isSubstitute: true });
});

t.test('tools go to a capable model of the same family', async (t) => {
  t.match(select('qwen1-base', { needsTools: true }), { card: { id: 'qwen3-4b-q4_k_m' }, isSubstitute: true });
  t.match(select('Qwen/Qwen2.5-7B-Instruct', { needsTools: true }), { card: { id: 'qwen3-4b-q4_k_m' }, isSubstitute: true });
});

t.test('tools go to no other family, even to a capable one', async (t) => {
  for (const model of ['llama-3', 'gpt-4o']) {
    t.throws(() => select(model, { needsTools: true }), {
      status: 422,
      code: 'model_cannot_tool_call',
      extra: { supported_models: ['qwen3-4b-q4_k_m'] },
    });
  }
});

t.test('images go to a model that sees', async (t) => {
  t.match(select('gpt-4o', { needsVision: true }, 'qwen1-base'), { card: { id: 'llama-3' } });
  t.throws(() => select('qwen1-base', { needsVision: true }), { status: 400, code: 'unsupported' });
});

t.test('without any model that chats it is a 404', async (t) => {
  const needs = { model: 'x', needsTools: false, needsVision: false };
  t.throws(() => selectChatModel(cards.slice(3), needs, undefined), { status: 404, code: 'model_not_found' });
});

t.test('embeddings are never substituted', async (t) => {
  t.equal(selectExactModel(cards, 'bge-m3', 'embeddings').id, 'bge-m3-q8_0');
  t.throws(() => selectExactModel(cards, 'text-embedding-3-small', 'embeddings'), {
    status: 404,
    code: 'model_not_found',
    message: /bge-m3-q8_0/,
  });
});
