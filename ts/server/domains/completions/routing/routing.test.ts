/** `model: "auto"` and `knowledge: ["auto"]`: what is asked of the router, what it chooses, and what it is told of the answer. */
import t from 'tap';
import { ANONYMOUS } from '../../../platform/http/principal.ts';
import type { NearBases } from '../../data/index.ts';
import type { CompletionSink, ModelCard } from '../../inference/index.ts';
import { scriptedUsage } from '../../inference/test-support/scripted-engine.ts';
import type { MemoryApi } from '../../memory/index.ts';
import type { PendingAnswer } from '../answer/pending-answer.ts';
import { scriptedKnowledge } from '../knowledge/test-support/scripted-knowledge.ts';
import { type ResponseNode, startResponseNode } from '../test-support/response-node.ts';
import { RoutingStage } from './routing-stage.ts';
import { scriptedRouter } from './test-support/scripted-router.ts';

const PATH = '/v1/chat/completions';
const body = {
  model: 'm',
  knowledge: ['auto'],
  messages: [
    { role: 'user', content: 'What does rye bread cost?' },
    { role: 'assistant', content: 'Two.' },
    { role: 'user', content: 'Who keeps the lighthouse?' },
  ],
};

const near: NearBases = {
  names: ['bakery', 'harbour'],
  cosines: [
    [0.8, 0.2],
    [0.1, 0.9],
  ],
};

function connect(node: ResponseNode, found: NearBases = near, words = 'Mira [1]') {
  const router = scriptedRouter();
  node.memory.switch({ router, recallsByItself: async () => false } as unknown as MemoryApi);
  const turns: (readonly string[])[] = [];
  const knowledge = scriptedKnowledge();
  node.knowledge.switch({
    answers: {
      ...knowledge,
      nearness: async (_, said) => {
        turns.push(said);
        return found;
      },
    },
  });
  node.binding.engine.script = (sink: CompletionSink) => {
    sink.onStart(7, 2);
    sink.onContent(0, Buffer.from(words));
    sink.onFinish(0, 'stop', '');
    sink.onDone(scriptedUsage);
  };
  return { router, turns, asked: knowledge.asked };
}

t.test('the base that is nearest to the conversation is asked, and the answer says which', async (t) => {
  const node = await startResponseNode(t);
  const { router, turns, asked } = connect(node);
  const answer = await node.json('POST', PATH, body);
  t.strictSame(turns, [['What does rye bread cost?', 'Who keeps the lighthouse?']]);
  t.match(asked, [{ namespaces: ['harbour'] }]);
  t.strictSame(answer['knowledge_route'], {
    chosen: 'harbour',
    scores: { bakery: 0.1, harbour: 0.9 },
    mode: 'shadow',
  });
  t.strictSame(router.asked, [{ kind: 'knowledge', routes: near.names, cosines: near.cosines }]);
  t.strictSame(router.kept, [{ kind: 'knowledge', chosen: 'harbour' }]);
  t.strictSame(router.ended, [{ kind: 'knowledge', chosen: 'harbour', outcome: 'held' }]);
});

t.test('a stream says it once, with finish_reason, and an answer whose citations do not hold is told of', async (t) => {
  const node = await startResponseNode(t);
  const { router } = connect(node, near, 'Nobody [2]');
  const { text } = await node.follow('POST', PATH, { ...body, stream: true });
  const frames = text.match(/^data: \{.*$/gm)?.map((frame) => JSON.parse(frame.slice(6))) ?? [];
  const having = frames.filter(({ knowledge_route: route }) => route !== undefined);
  t.match(having, [{ knowledge_route: { chosen: 'harbour' }, choices: [{ finish_reason: 'stop' }] }]);
  t.equal(having.length, 1);
  t.strictSame(router.ended, [{ kind: 'knowledge', chosen: 'harbour', outcome: 'unheld' }]);
});

t.test('a base that is named stands beside the one that is chosen, and is not chosen itself', async (t) => {
  const node = await startResponseNode(t);
  const { asked, router } = connect(node);
  const answer = await node.json('POST', PATH, { ...body, knowledge: ['harbour', 'auto'] });
  t.match(asked, [{ namespaces: ['harbour', 'bakery'] }]);
  t.match(answer, { knowledge_route: { chosen: 'bakery' } });
  t.strictSame(router.asked, [{ kind: 'knowledge', routes: ['bakery'], cosines: [[0.8], [0.1]] }]);
});

t.test('without a base nothing is chosen, and a base that is called auto is that one', async (t) => {
  const node = await startResponseNode(t);
  const none = connect(node, { names: [], cosines: [] });
  const { chosen } = (await node.json('POST', PATH, body))['knowledge_route'] as { chosen: null };
  t.equal(chosen, null);
  t.match([none.asked, none.router.asked, none.router.kept], [[{ namespaces: [] }], [], []]);
  const own = connect(node, { names: ['auto', 'b'], cosines: near.cosines });
  t.equal((await node.json('POST', PATH, body))['knowledge_route'], undefined);
  t.match([own.asked, own.router.asked], [[{ namespaces: ['auto'] }], []]);
});

t.test('a model is chosen of those of this node that can answer, and another name is as unknown as ever', async (t) => {
  const node = await startResponseNode(t);
  const { router } = connect(node);
  const { knowledge: _, ...plain } = body;
  const reply = await node.call('POST', PATH, { ...plain, model: 'auto' });
  t.equal(reply.headers?.['x-svc-model-substituted'], undefined);
  t.match(JSON.parse(String(reply.kind === 'bytes' ? reply.body : '')), { model: 'm', knowledge_route: undefined });
  t.strictSame(router.asked, [{ kind: 'model', routes: ['m'], cosines: [] }]);
  const other = await node.call('POST', PATH, { ...plain, model: 'automatic' });
  t.equal(other.headers?.['x-svc-model-substituted'], 'automatic -> m');
  t.equal(router.asked.length, 1);
  node.memory.switch(undefined);
  t.match(await node.json('POST', PATH, { ...plain, model: 'auto' }), { model: 'm' }, 'the default model, without memories');
  await t.rejects(node.json('POST', PATH, body), { code: 'memory_unavailable' });
});

t.test('of the models that the caller may use, those are asked about that run here and can what is asked', async (t) => {
  const chats = { chat: true, tools: true, vision: false, audio: false };
  const cards = [
    { id: 'b', state: 'loaded', capabilities: chats },
    { id: 'provider', state: 'remote', backend: 'cloud', capabilities: chats },
    { id: 'broken', state: 'unusable', capabilities: chats },
    { id: 'embeds', state: 'loaded', capabilities: { ...chats, chat: false } },
    { id: 'plain', state: 'loaded', capabilities: { ...chats, tools: false } },
    { id: 'default', state: 'stored', capabilities: chats },
  ] as unknown as ModelCard[];
  const choose = async (usable: readonly ModelCard[], needsTools: boolean) => {
    const router = scriptedRouter();
    const stage = new RoutingStage({
      memory: { isRunning: true, api: { router } },
      knowledge: { api: { answers: scriptedKnowledge() } },
      inference: { defaultModel: 'default', models: async () => [...usable] },
    });
    const job = { prompt: { kind: 'chat', messagesJson: '[]' } } as const;
    const request = { model: 'auto', needsTools, needsVision: false, needsAudio: false, job };
    const answer = {
      asker: { caller: ANONYMOUS, options: {} },
      call: { request, isStreamed: false },
      request,
    } as unknown as PendingAnswer;
    await stage.prepare(answer);
    return [answer.request.model, ...router.asked.flatMap(({ routes }) => routes)];
  };
  t.strictSame(await choose(cards, false), ['default', 'default', 'b', 'plain']);
  t.strictSame(await choose(cards, true), ['default', 'default', 'b']);
  t.strictSame(await choose(cards.slice(0, 5), true), ['b', 'b'], 'others are not the caller’s');
  t.strictSame(await choose(cards.slice(1, 4), false), ['auto'], 'nothing is chosen, and the refusal is the usual one');
  t.strictSame(await choose([...cards, { ...cards[0], id: 'auto' } as ModelCard], false), ['auto'], 'a model that is called so');
});
