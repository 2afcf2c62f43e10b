/** The random models' own chat template, through llama.cpp's template engine and its recognition of tool calls. */
import t from 'tap';
import { type ArchitectureName, architectures } from '../../../models/random/architectures.ts';
import { randomModel } from '../../../models/random/fixture.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';

const tool = {
  type: 'function',
  function: {
    name: 'find_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

async function open(t: Tap, arch: ArchitectureName): Promise<LlamaModel> {
  const model = await LlamaModel.load({ path: await randomModel({ arch }) });
  t.teardown(() => model.close());
  return model;
}

type Tap = Pick<typeof t, 'teardown'>;
const call = (id: string, city: string) => ({
  id,
  type: 'function',
  function: { name: 'find_weather', arguments: JSON.stringify({ city }) },
});

t.test('models that chat have it and can call tools; encoders have none', async (t) => {
  for (const arch of Object.keys(architectures) as ArchitectureName[]) {
    if (architectures[arch].vocabulary === 'qwen2') continue; // Its vocabulary takes long to load and adds nothing here.
    const { info } = await open(t, arch);
    const chats = architectures[arch].purpose === 'chat';
    t.strictSame([info.hasChatTemplate, info.supportsTools], [chats, chats], arch);
  }
});

t.test('turns are marked and the answer is opened', async (t) => {
  const model = await open(t, 'llama');
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'Bye' },
  ];
  const { prompt } = await model.renderChat({ kind: 'chat', messagesJson: JSON.stringify(messages) });
  const turns = messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`);
  t.equal(prompt, `${turns.join('')}<|im_start|>assistant\n`);
});

t.test('tools, calls and their results are rendered as JSON between tags', async (t) => {
  const model = await open(t, 'llama');
  const messages = [
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: null, tool_calls: [call('a', 'Bern'), call('b', 'Rome')] },
    { role: 'tool', tool_call_id: 'a', content: 'sunny' },
  ];
  const { prompt } = await model.renderChat({
    kind: 'chat',
    messagesJson: JSON.stringify(messages),
    toolsJson: JSON.stringify([tool]),
  });
  const described = /<tools>\n(.*)\n<\/tools>/.exec(prompt)?.[1] ?? '';
  t.strictSame(JSON.parse(described), tool);
  const calls = [...prompt.matchAll(/<tool_call>\n(\{"name": "find.*\})\n<\/tool_call>/g)].map(([, json = '']) =>
    JSON.parse(json),
  );
  t.strictSame(calls, [
    { name: 'find_weather', arguments: { city: 'Bern' } },
    { name: 'find_weather', arguments: { city: 'Rome' } },
  ]);
  t.match(prompt, /<tool_response>\nsunny\n<\/tool_response>/);
});
