/** Speculative decoding as a client sees it: nothing but the counts in the usage. */
import t from 'tap';
import { post, send } from './http.ts';
import { chatModel, startServer } from './server.ts';

const question = { model: chatModel, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 32, temperature: 0 };

t.test('a draft model', async (t) => {
  const server = await startServer(t, {
    models: { [chatModel]: { arch: 'llama' }, twin: { arch: 'llama' } },
    env: { SVC_INFERENCE_SPECULATION: 'always', SVC_INFERENCE_DRAFT_MODEL: `${chatModel}=twin` },
  });
  const url = `${server.url}/v1/chat/completions`;
  const drafted = await post(url, question);
  t.equal(drafted.status, 200);
  const { usage } = drafted.json as { usage: { completion_tokens: number; completion_tokens_details: Record<string, number> } };
  const accepted = usage.completion_tokens_details['accepted_prediction_tokens'] ?? 0;
  t.ok(accepted > 8 && accepted < usage.completion_tokens, `its twin guessed ${accepted} of ${usage.completion_tokens} tokens`);
  t.match(drafted.json, { timings: { draft_n_accepted: accepted } });
  const { text } = await send(`${server.url}/metrics`);
  t.match(text, `svc_inference_drafted_tokens_total{model="${chatModel}",outcome="accepted"} ${accepted}`);

  for (const member of [{ 'speculative.n_max': 0 }, { 'speculative.type': 'none' }]) {
    const { json } = await post(url, { ...question, ...member });
    t.match(json, { choices: drafted.json?.['choices'] }, `${JSON.stringify(member)}: the same answer`);
    t.notMatch(json, { usage: { completion_tokens_details: {} } });
  }
});

t.test('a draft model of another vocabulary is refused with the reason', async (t) => {
  const server = await startServer(t, {
    models: { [chatModel]: { arch: 'llama' }, foreign: { arch: 'gpt2' } },
    env: { SVC_INFERENCE_DRAFT_MODEL: `${chatModel}=foreign` },
    readyPath: '/livez',
  });
  const { status, json } = await post(`${server.url}/v1/chat/completions`, question);
  t.equal(status, 503);
  t.match(json, { error: { code: 'model_invalid' }, detail: /vocabulary differs.*same family/ });
});
