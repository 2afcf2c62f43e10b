import t from 'tap';
import { HttpError } from '../../../platform/http/errors.ts';
import type { KnowledgePort } from '../../data/index.ts';
import type { CompletionSink } from '../../inference/index.ts';
import { scriptedUsage } from '../../inference/test-support/scripted-engine.ts';
import { type ResponseNode, startResponseNode } from '../test-support/response-node.ts';
import { userTurns, withKnowledge } from './knowledge-messages.ts';
import { scriptedContext, scriptedKnowledge } from './test-support/scripted-knowledge.ts';

const PATH = '/v1/chat/completions';

const context = scriptedContext;

const wire = {
  citations: [
    {
      n: 1,
      namespace: 'kb',
      document_id: 'd',
      source: 'a.pdf',
      page: 2,
      start: 5,
      end: 24,
      text: 'Mira Doll keeps it.',
      score: 0.9,
    },
  ],
  annotations: [{ type: 'url_citation', url_citation: { start_index: 10, end_index: 13, url: '/d', title: 'a.pdf' } }],
};

function connect({ knowledge, binding }: ResponseNode, port: KnowledgePort = scriptedKnowledge()): void {
  knowledge.switch({ answers: port });
  binding.engine.script = (sink) => {
    sink.onStart(7, 2);
    sink.onContent(0, Buffer.from('Mira \\"D\\"'));
    sink.onContent(0, Buffer.from(' [1]'));
    sink.onFinish(0, 'stop', '');
    sink.onDone(scriptedUsage);
  };
}

const body = { model: 'm', knowledge: ['kb', 'kb'], messages: [{ role: 'user', content: 'Who keeps it?' }] };

t.test('passages go to the model in front of the question, and the answer has its citations', async (t) => {
  const node = await startResponseNode(t);
  const knowledge = scriptedKnowledge();
  connect(node, knowledge);
  const answer = await node.json('POST', PATH, body);
  t.match(knowledge.asked, [{ namespaces: ['kb'], turns: ['Who keeps it?'] }]);
  const { prompt } = node.binding.engine.jobs[0]?.job ?? {};
  t.strictSame(JSON.parse(String(prompt?.kind === 'chat' ? prompt.messagesJson : '')), [
    { role: 'system', content: 'Cite.' },
    { role: 'user', content: `${context.passages}\n\nWho keeps it?` },
  ]);
  t.match(answer, {
    citations: wire.citations,
    choices: [
      { message: { content: 'Mira "D" [1]', annotations: [{ type: 'url_citation', url_citation: { start_index: 9 } }] } },
    ],
  });
});

t.test('in a stream they come with finish_reason, and every frame is JSON', async (t) => {
  const node = await startResponseNode(t);
  connect(node);
  for (const stream_options of [null, { include_usage: true }]) {
    const stream = await node.follow('POST', PATH, { ...body, stream: true, stream_options });
    const frames = stream.text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice(6)));
    const last = frames.find(({ choices }) => choices[0]?.finish_reason === 'stop');
    t.strictSame(last.citations, wire.citations);
    t.match(last.choices[0].delta, { annotations: [{ type: 'url_citation', url_citation: { url: '/d', title: 'a.pdf' } }] });
    t.equal(frames.filter(({ citations }) => citations !== undefined).length, 1);
  }
});

t.test('a citation that does not hold is in no answer, streamed or not, and what is stored is what was read', async (t) => {
  const node = await startResponseNode(t);
  connect(node);
  node.binding.engine.script = (sink) => {
    sink.onStart(7, 2);
    for (const piece of ['Mira [', '7', '] keeps', ' it [1].', ' Or [9']) sink.onContent(0, Buffer.from(piece));
    sink.onFinish(0, 'stop', '');
    sink.onDone(scriptedUsage);
  };
  const text = 'Mira  keeps it [1]. Or [9';
  const whole = await node.json('POST', PATH, body);
  t.match(whole, { choices: [{ message: { content: text, annotations: [{ url_citation: { start_index: 15 } }] } }] });
  t.match(whole, { citations: [{ n: 1 }] });
  const stream = await node.follow('POST', PATH, { ...body, stream: true });
  const frames = stream.text.match(/^data: \{.*$/gm)?.map((frame) => JSON.parse(frame.slice(6))) ?? [];
  const pieces = frames.map(({ choices }) => choices[0]?.delta.content ?? '');
  t.equal(pieces.join(''), text);
  t.notMatch(stream.text, /\[7\]/);
  t.match(
    frames.find(({ citations }) => citations),
    { citations: [{ n: 1 }], choices: [{ finish_reason: 'stop' }] },
  );
});

/** Answers as a knowledge base does that has nothing about the question. */
class Notice {
  readonly marks = [];
  readonly unsupported = [];
  #notice = 'Nothing. ';

  push(piece: string): string {
    return this.#take() + piece;
  }

  end(): string {
    return this.#take();
  }

  conclude(): string {
    return this.end();
  }

  #take(): string {
    const notice = this.#notice;
    this.#notice = '';
    return notice;
  }
}

t.test('what stands in front of an answer is there without any words of the model, and not where it calls a tool', async (t) => {
  const node = await startResponseNode(t);
  const knowledge = scriptedKnowledge({ newFilter: () => new Notice() });
  connect(node, knowledge);
  const contents = async () => {
    const whole = (await node.json('POST', PATH, body)) as { choices: { message: { content: string | null } }[] };
    const stream = await node.follow('POST', PATH, { ...body, stream: true });
    const frames = stream.text.match(/^data: \{.*$/gm)?.map((frame) => JSON.parse(frame.slice(6))) ?? [];
    return [whole.choices[0]?.message.content, frames.map(({ choices }) => choices[0]?.delta.content ?? '').join('')];
  };
  const script = (say: (sink: CompletionSink) => void) => {
    node.binding.engine.script = (sink) => {
      sink.onStart(7, 2);
      say(sink);
      sink.onFinish(0, 'stop', '');
      sink.onDone(scriptedUsage);
    };
  };
  script(() => {});
  t.strictSame(await contents(), ['Nothing. ', 'Nothing. ']);
  script((sink) => {
    sink.onReasoning(0, Buffer.from('Hm.'));
    sink.onContent(0, Buffer.from('Yes.'));
  });
  t.strictSame(await contents(), ['Nothing. Yes.', 'Nothing. Yes.']);
  script((sink) => {
    sink.onToolCall(0, 0, 'call_1', 'look');
    sink.onToolArguments(0, 0, Buffer.from('{}'));
  });
  t.strictSame(await contents(), [null, '']);
});

/** Answers as a knowledge base does that completes answers. */
class Completion extends Notice {
  override push(piece: string): string {
    return piece;
  }

  override end(): string {
    return '';
  }

  override conclude(): string {
    return ' Quoted.';
  }
}

t.test('what stands behind an answer is there where it ended by itself and calls no tool', async (t) => {
  const node = await startResponseNode(t);
  connect(node, scriptedKnowledge({ newFilter: () => new Completion() }));
  const contents = async (say: (sink: CompletionSink) => void) => {
    node.binding.engine.script = (sink) => {
      sink.onStart(7, 2);
      sink.onContent(0, Buffer.from('Yes.'));
      say(sink);
      sink.onDone(scriptedUsage);
    };
    const whole = (await node.json('POST', PATH, body)) as { choices: { message: { content: string | null } }[] };
    const stream = await node.follow('POST', PATH, { ...body, stream: true });
    const frames = stream.text.match(/^data: \{.*$/gm)?.map((frame) => JSON.parse(frame.slice(6))) ?? [];
    return [whole.choices[0]?.message.content, frames.map(({ choices }) => choices[0]?.delta.content ?? '').join('')];
  };
  const ended = await contents((sink) => sink.onFinish(0, 'stop', ''));
  t.strictSame(ended, ['Yes. Quoted.', 'Yes. Quoted.']);
  for (const [why, say] of [
    ['max_tokens', (sink: CompletionSink) => sink.onFinish(0, 'length', '')],
    ['stop', (sink: CompletionSink) => sink.onFinish(0, 'stop', 'Observation:')],
    [
      'a tool',
      (sink: CompletionSink) => {
        sink.onToolCall(0, 0, 'call_1', 'look');
        sink.onToolArguments(0, 0, Buffer.from('{}'));
        sink.onFinish(0, 'tool_calls', '');
      },
    ],
  ] as const)
    t.strictSame(await contents(say), ['Yes.', 'Yes.'], why);
});

t.test('what keeps its form, and what offers tools, is said to the knowledge base', async (t) => {
  const node = await startResponseNode(t);
  const knowledge = scriptedKnowledge();
  connect(node, knowledge);
  await node.json('POST', PATH, { ...body, response_format: { type: 'json_object' } });
  await node.json('POST', '/v1/responses', {
    model: 'm',
    input: 'Who?',
    tools: [{ type: 'file_search', vector_store_ids: ['kb'] }],
    text: { format: { type: 'json_object' } },
  });
  await node.json('POST', PATH, body);
  t.strictSame(
    knowledge.asked.map(({ keepsForm }) => keepsForm),
    [true, true, false],
  );
  const tool = { name: 'look', parameters: {} };
  await node.json('POST', PATH, { ...body, tools: [{ type: 'function', function: tool }] });
  await node.json('POST', '/v1/responses', {
    model: 'm',
    input: 'Who?',
    tools: [
      { type: 'file_search', vector_store_ids: ['kb'] },
      { type: 'function', ...tool },
    ],
  });
  t.strictSame(
    knowledge.asked.map(({ offersTools }) => offersTools),
    [false, false, false, true, true],
  );
});

t.test('files that are kept without an index are named, streamed or not', async (t) => {
  const node = await startResponseNode(t);
  const file = { namespace: 'kb', documentId: 'x', source: 'scan.png', detail: 'Images have no text layer.' };
  connect(node, scriptedKnowledge({ unindexed: { count: 12, files: [file] } }));
  const unindexed = { count: 12, files: [{ namespace: 'kb', document_id: 'x', source: 'scan.png', detail: file.detail }] };
  t.strictSame((await node.json('POST', PATH, body))['unindexed'], unindexed);
  const { text } = await node.follow('POST', PATH, { ...body, stream: true });
  t.ok(text.includes(JSON.stringify(unindexed)));
});

t.test('without `knowledge` nothing of it is in the answer, whoever is connected', async (t) => {
  const node = await startResponseNode(t);
  connect(node);
  for (const knowledge of [undefined, null, []]) {
    const answer = await node.json('POST', PATH, { ...body, knowledge });
    t.notOk('citations' in answer);
    t.notMatch(JSON.stringify(answer), /annotations/);
  }
});

t.test('while no module has knowledge bases, a chat that names one is refused', async (t) => {
  const node = await startResponseNode(t);
  const refusal = await node.call('POST', PATH, body).catch((error: unknown) => error);
  t.ok(refusal instanceof HttpError);
  t.match(refusal, { status: 503, code: 'knowledge_unavailable' });
  connect(node);
  node.knowledge.switch(undefined);
  await t.rejects(node.call('POST', PATH, body), { code: 'knowledge_unavailable' });
});

t.test('a system message keeps its place, and a message of parts its parts', async (t) => {
  const image = { type: 'image_url', image_url: { url: 'attached:0' } };
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'First' },
    { role: 'assistant', content: 'Yes [1]. Quoted.' },
    { role: 'user', content: [image, { type: 'text', text: 'Second' }] },
    { role: 'tool', content: 'x' },
  ];
  t.strictSame(userTurns(messages), ['First', 'Second']);
  const asked = withKnowledge(messages, context);
  t.strictSame(asked[0], { role: 'system', content: 'Be brief.\n\nCite.' });
  t.strictSame(asked[2], { role: 'assistant', content: 'Yes.' }, 'without numbers of other passages and what was put behind it');
  t.strictSame(asked[3], {
    role: 'user',
    content: [{ type: 'text', text: `${context.passages}\n\n` }, image, { type: 'text', text: 'Second' }],
  });
  t.equal(
    withKnowledge(messages, { ...context, instruction: 'None.', passages: '' })[3],
    messages[3],
    'without passages the question stays',
  );
});
