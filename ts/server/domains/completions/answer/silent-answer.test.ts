import t from 'tap';
import { scriptedKnowledge } from '../knowledge/test-support/scripted-knowledge.ts';
import { startResponseNode } from '../test-support/response-node.ts';

const body = { model: 'm', knowledge: ['kb'], n: 2, messages: [{ role: 'user', content: 'Who keeps it?' }] };

/** Answers as knowledge bases do that answer alone: whatever the model says, this stands behind it. */
class Evidence {
  readonly marks = [];
  readonly unsupported = [];

  push(piece: string): string {
    return piece;
  }

  end(): string {
    return '';
  }

  conclude(): string {
    return 'From the documents: “Mira Doll keeps it.”';
  }
}

t.test('where the documents answer alone no job is submitted, and every choice has their words, streamed or not', async (t) => {
  const node = await startResponseNode(t);
  node.knowledge.switch({ answers: scriptedKnowledge({ silences: () => true, newFilter: () => new Evidence() }) });
  const said = 'From the documents: “Mira Doll keeps it.”';
  const whole = await node.json('POST', '/v1/chat/completions', body);
  t.match(whole, {
    choices: [0, 1].map((index) => ({ index, finish_reason: 'stop', message: { content: said } })),
    usage: { prompt_tokens: 0, completion_tokens: 0 },
  });
  const { text } = await node.follow('POST', '/v1/chat/completions', { ...body, stream: true });
  const frames = text.match(/^data: \{.*$/gm)?.map((frame) => JSON.parse(frame.slice(6))) ?? [];
  for (const index of [0, 1]) {
    const own = frames.flatMap(({ choices }) => choices).filter((choice) => choice.index === index);
    t.equal(own.map(({ delta }) => delta.content ?? '').join(''), said);
    t.equal(own.at(-1)?.finish_reason, 'stop');
  }
  t.match(text, /data: \[DONE\]\n\n$/);
  const response = await node.json('POST', '/v1/responses', {
    model: 'm',
    input: 'Who keeps it?',
    tools: [{ type: 'file_search', vector_store_ids: ['kb'] }],
  });
  t.match(JSON.stringify(response), said);
  t.equal(node.binding.engine.jobs.length, 0);
});
