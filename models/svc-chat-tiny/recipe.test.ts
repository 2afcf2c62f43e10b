/** The recipe from data to a served model, with a model too small and too short trained to know anything. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LlamaModel } from '../../ts/server/native/llama.ts';
import { startModelServer } from '../eval/model-server.ts';
import { findPython, runScript } from '../recipe/python.ts';

const python = await findPython(['torch', 'jinja2', 'numpy', 'yaml']);
if (process.env['SVC_TEST_FULL'] !== '1') t.plan(0, 'trains a model: npm run test:full does');
else if (!python)
  t.plan(0, 'needs Python with PyTorch: apt-get install python3-torch libopenblas0-pthread python3-jinja2 python3-yaml');
else await rerun(python);

async function rerun(python: string): Promise<void> {
  const folder = t.testdir();
  const model = join(folder, 'svc-chat-tiny.gguf');
  const size = ['--width', '64', '--layers', '2', '--heads', '4', '--feed-forward', '64', '--tokenizer-conversations', '300'];
  const effort = ['--step-tokens', '2048', '--held-out', '8', '--check-every', '2'];
  const train = (steps: number, workers: number, where = folder) =>
    runScript(python, 'svc-chat-tiny/train.py', [
      '--folder',
      where,
      ...size,
      ...effort,
      '--steps',
      `${steps}`,
      '--workers',
      `${workers}`,
    ]);

  t.test('training goes on from its checkpoint, with any number of workers', async (t) => {
    t.match(await train(2, 1), /step 2 {2}held out: .*value 0\.\d+/);
    writeFileSync(join(folder, 'workers'), 'left by a run that was killed');
    // The weights of the last two are averaged.
    const resumed = await train(14, 2);
    t.match(resumed, /step 14 {2}loss/);
    t.notMatch(resumed, /step 2 {2}/);
    t.match(await train(14, 1), /has all of its 14 steps already/);
  });

  t.test('a checkpoint that nothing can go on from is said so, and kept', async (t) => {
    const copy = t.testdir({ 'checkpoint.pt': 'exported from elsewhere' });
    await t.rejects(train(14, 1, copy), { message: /has a checkpoint\.pt but no resume\.pt.*name another --folder/ });
    t.equal(readFileSync(join(copy, 'checkpoint.pt'), 'utf8'), 'exported from elsewhere');
  });

  t.test('workers train on all of a step together: their loss is that of one who does it alone', async (t) => {
    const losses = [];
    for (const workers of [1, 2])
      losses.push(Number(/loss (\d+\.\d+)/.exec(await train(1, workers, join(folder, `${workers}`)))?.[1]));
    const [alone, together] = losses as [number, number];
    t.ok(Math.abs(alone - together) < 0.01 * alone, `${alone} and ${together}`);
  });

  t.test('the export is a model that calls tools, and its prompts are those of the training, token for token', async (t) => {
    await runScript(python, 'svc-chat-tiny/export.py', [join(folder, 'checkpoint.pt'), model]);
    const loaded = await LlamaModel.load({ path: model });
    t.teardown(() => loaded.close());
    t.equal(loaded.info.supportsTools, true);
    const lines = await runScript(python, 'svc-chat-tiny/prompt_sample.py', [join(folder, 'tokenizer.json'), '200']);
    for (const line of lines.trim().split('\n')) {
      const { messages, tools, text, ids } = JSON.parse(line);
      const toolsJson = tools ? { toolsJson: JSON.stringify(tools) } : {};
      const { prompt, tokens } = await loaded.renderChat({ kind: 'chat', messagesJson: JSON.stringify(messages), ...toolsJson });
      if (prompt !== text || tokens.join() !== ids.join())
        return t.same({ prompt, tokens: [...tokens] }, { prompt: text, tokens: ids });
    }
  });

  t.test('the server answers with it', async (t) => {
    const server = await startModelServer(model);
    t.teardown(() => server.stop());
    const weather = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: {} } } };
    const messages = [{ role: 'user', content: 'Hello!' }];
    // The grammar allows blanks, of which an untrained model makes as many as it may: the name comes within 400 tokens, seldom within 60.
    const body = { model: 'svc-chat-tiny', messages, tools: [weather], tool_choice: 'required', max_tokens: 400 };
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    t.equal(response.status, 200);
    const { choices } = (await response.json()) as { choices: { message: { tool_calls: { function: { name: string } }[] } }[] };
    t.equal(choices[0]?.message.tool_calls[0]?.function.name, 'get_weather');
  });

  t.test('the model is marked as a demonstration', async (t) => {
    t.match(readFileSync(model).subarray(0, 4096).toString('latin1'), 'svc.demonstration');
  });
}
