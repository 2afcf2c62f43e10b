import t from 'tap';
import type { ModelCapabilities, ModelCard } from '../backend.ts';
import { NO_CAPABILITIES } from '../test-support/capabilities.ts';
import { findModel, selectModel } from './selection.ts';

function offer(
  id: string,
  family: string,
  abilities: Partial<ModelCapabilities>,
  state: ModelCard['state'] = 'unloaded',
): { card: ModelCard } {
  const capabilities = { ...NO_CAPABILITIES, ...abilities };
  const card: ModelCard = {
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
  return { card };
}

t.test('a model without a chat template answers where it is named, or where nothing else is there', async (t) => {
  const base = offer('a-base', 'llama', { completion: true }, 'loaded');
  const chats = offer('z-chat', 'llama', { chat: true });
  const needs = { ability: 'chat', needsTools: false, needsVision: false, needsAudio: false } as const;
  const answering = (offers: (typeof base)[], model: string, preferred?: string) =>
    selectModel(offers, { ...needs, model }, preferred).card.id;
  t.equal(answering([base, chats], 'a-base'), 'a-base');
  t.equal(answering([base, chats], 'unknown'), 'z-chat');
  t.equal(answering([base], 'unknown'), 'a-base');
  t.equal(answering([base, chats], 'unknown', 'a-base'), 'a-base', 'the operator named it as the default');
});

const offers = [
  offer('qwen3-4b-q4_k_m', 'qwen', { chat: true, tools: true }),
  offer('qwen1-base', 'qwen', { chat: true }),
  offer('llama-3', 'llama', { chat: true, vision: true }, 'loaded'),
  offer('bge-m3-q8_0', 'bert', { embeddings: true }),
];

const select = (
  model: string,
  needs: { needsTools?: boolean; mustCall?: boolean; needsVision?: boolean; needsAudio?: boolean } = {},
  preferred?: string,
) =>
  selectModel(offers, { ability: 'chat', model, needsTools: false, needsVision: false, needsAudio: false, ...needs }, preferred);

t.test('the model that was asked for answers, also by a shorter or differently written name', async (t) => {
  for (const name of ['qwen3-4b-q4_k_m', 'QWEN3-4B-Q4_K_M', 'qwen3-4b', 'qwen3-4b:latest']) {
    t.match(select(name), { card: { id: 'qwen3-4b-q4_k_m' }, isSubstitute: false });
  }
});

t.test('a name is not completed by anything but a quantisation', async (t) => {
  t.equal(findModel(offers, 'qwen3'), undefined);
  t.equal(findModel(offers, 'bge-m3')?.card.id, 'bge-m3-q8_0');
});

t.test('an unknown model is answered by the default, else by one in memory', async (t) => {
  t.match(select('gpt-4o', {}, 'qwen1-base'), { card: { id: 'qwen1-base' }, isSubstitute: true });
  t.match(select('gpt-4o'), { card: { id: 'llama-3' }, isSubstitute: true });
});

t.test('an embedding model asked to chat is answered by one that chats', async (t) => {
  t.match(select('bge-m3'), { card: { id: 'llama-3' }, isSubstitute: true });
});

t.test(
  'tools that must be called go to a capable model of the same family, others to no other than the one asked for',
  async (t) => {
    const forced = { needsTools: true, mustCall: true };
    t.match(select('qwen1-base', forced), { card: { id: 'qwen3-4b-q4_k_m' }, isSubstitute: true });
    t.match(select('qwen1-base', { needsTools: true }), { card: { id: 'qwen1-base' }, isSubstitute: false });
    t.match(select('llama-3', { needsTools: true }), { card: { id: 'llama-3' }, isSubstitute: false });
    t.match(select('Qwen/Qwen2.5-7B-Instruct', { needsTools: true }), { card: { id: 'qwen3-4b-q4_k_m' }, isSubstitute: true });
  },
);

t.test('tools go to no other family, even to a capable one', async (t) => {
  for (const model of ['llama-3', 'gpt-4o']) {
    t.throws(() => select(model, { needsTools: true, mustCall: model === 'llama-3' }), {
      code: 'model_cannot_tool_call',
      extra: { supported_models: ['qwen3-4b-q4_k_m'] },
    });
  }
});

t.test('images go to a model that sees', async (t) => {
  t.match(select('gpt-4o', { needsVision: true }, 'qwen1-base'), { card: { id: 'llama-3' } });
  t.throws(() => select('qwen1-base', { needsVision: true }), { code: 'unsupported' });
  t.throws(() => select('gpt-4o', { needsAudio: true }), { code: 'unsupported', message: /hears no sounds.*audio/ });
});

t.test('without any model that chats none is found', async (t) => {
  const needs = { ability: 'chat', model: 'x', needsTools: false, needsVision: false, needsAudio: false } as const;
  t.throws(() => selectModel(offers.slice(3), needs, undefined), { code: 'model_not_found' });
});

t.test('embeddings are never substituted', async (t) => {
  const embedder = (model: string) => selectModel(offers, { ability: 'embeddings', model }, undefined);
  t.match(embedder('bge-m3'), { card: { id: 'bge-m3-q8_0' }, isSubstitute: false });
  t.throws(() => embedder('text-embedding-3-small'), {
    code: 'model_not_found',
    message: /bge-m3-q8_0/,
  });
});

t.test('tokens come from the model that was named, or else from the one that chats', async (t) => {
  const tokenizer = (model?: string) => selectModel(offers, { ability: 'tokenize', model }, 'qwen1-base');
  t.match(tokenizer(), { card: { id: 'qwen1-base' } });
  t.match(tokenizer('bge-m3'), { card: { id: 'bge-m3-q8_0' } });
  t.throws(() => tokenizer('gpt-4o'), { code: 'model_not_found' });
});
