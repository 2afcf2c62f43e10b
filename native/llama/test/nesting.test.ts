/**
 * What is nested without end, in requests and in answers: llama.cpp recurses in it, and a thread whose stack runs out ends the
 * process with everybody's requests. A case that is not bounded any more ends this file with a signal.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { vocabularyFolder } from '../../../models/random/vocabulary.ts';
import { type GenerationJob, LlamaModel } from '../../../ts/server/native/llama.ts';
import { nativeFolder } from '../../../ts/server/native/load.ts';
import { complete } from './completion.ts';
import { noReferences, referenceProgram } from './reference.ts';

const nLevels = 200_000;
const user = { role: 'user', content: 'Store it' };
const nested = (count: number): string => '['.repeat(count) + ']'.repeat(count);
const nestedObjects = (count: number): string => `${'{"a":'.repeat(count)}1${'}'.repeat(count)}`;

/** A conversation in which the assistant called a tool. */
function conversation(callArguments: string, result: string | object[] = 'done'): object[] {
  const call = { id: 'a', type: 'function', function: { name: 'store', arguments: callArguments } };
  return [user, { role: 'assistant', content: null, tool_calls: [call] }, { role: 'tool', tool_call_id: 'a', content: result }];
}

t.test('requests', async (t) => {
  const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }) });
  t.teardown(() => model.close());
  const engine = await model.createEngine({ nParallel: 1, nCtx: 2048, nThreads: 1 });
  t.teardown(() => engine.close());

  const run = (given: { messages?: object[]; tools?: object[] } & Pick<GenerationJob, 'jsonSchema' | 'grammar'>) => {
    const { messages = [user], tools, ...job } = given;
    const toolsJson = tools ? { toolsJson: JSON.stringify(tools), toolChoice: 'required' as const } : {};
    const prompt = { kind: 'chat' as const, messagesJson: JSON.stringify(messages), ...toolsJson };
    return complete(engine, { ...job, prompt, maxTokens: 4 });
  };

  await t.test('arguments of a call are JSON inside a string', async (t) => {
    const refusal = {
      code: 'invalid_argument',
      message: /^messages\[1\]\.tool_calls\[0\]\.function\.arguments is .* 128 levels/,
    };
    await t.rejects(run({ messages: conversation(nested(nLevels)) }), refusal, 'arrays');
    await t.rejects(run({ messages: conversation(nestedObjects(nLevels)) }), refusal, 'objects');
    await t.rejects(run({ messages: conversation(`"]]]]",${'['.repeat(nLevels)}`) }), refusal, 'behind brackets in a string');
    await t.resolves(run({ messages: conversation(nestedObjects(128)) }), 'as many levels as may be');
    await t.resolves(run({ messages: conversation(JSON.stringify({ code: '['.repeat(1_000) })) }), 'brackets inside a string');
  });

  await t.test('results of a tool, which some templates read as JSON', async (t) => {
    const refusal = { code: 'invalid_argument', message: /^messages\[2\]\.content is .* 128 levels/ };
    await t.rejects(run({ messages: conversation('{}', nested(nLevels)) }), refusal, 'one text');
    const parts = ['[', ']'].map((bracket) => ({ type: 'text', text: bracket.repeat(nLevels) }));
    await t.rejects(run({ messages: conversation('{}', parts) }), refusal, 'parts that are joined');
    await t.resolves(run({ messages: conversation('{}', `${'['.repeat(500)} is no JSON`) }), 'other texts have any brackets');
  });

  await t.test('names of an object are compared with each other: so many of them are refused at once', async (t) => {
    const members = (count: number, first = 0) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`name ${first + i}`, 1])));
    const refusal = (member: string) => ({ code: 'invalid_argument', message: new RegExp(`^${member} has too many members`) });
    const began = performance.now();
    const kwargs = { kind: 'chat' as const, messagesJson: JSON.stringify([user]), templateKwargsJson: members(100_000) };
    await t.rejects(complete(engine, { prompt: kwargs, maxTokens: 4 }), refusal('chat_template_kwargs'));
    await t.rejects(run({ messages: conversation(members(100_000)) }), refusal('messages\\[1\\].*arguments'));
    await t.rejects(run({ messages: conversation('{}', members(100_000)) }), refusal('messages\\[2\\].content'));
    await t.rejects(run({ messages: [{ ...user, ...JSON.parse(members(100_000)) }] }), refusal('messages'));
    const parameters = { type: 'object', properties: JSON.parse(members(100_000)) };
    await t.rejects(run({ tools: [{ type: 'function', function: { name: 'store', parameters } }] }), refusal('tools'));
    const many = Array.from({ length: 40 }, (_, i) => conversation(members(2_000, i))).flat();
    await t.rejects(run({ messages: many }), refusal('messages\\[\\d+\\].*arguments'), 'of all calls together');
    t.ok(performance.now() - began < 10_000, 'none of them was compared');
    const tooLong = { code: 'context_length_exceeded' };
    await t.rejects(run({ messages: conversation(members(2_000)) }), tooLong, 'as many as people have are read');
    await t.rejects(
      run({ messages: conversation('{}', `a log: ${'x: y, '.repeat(20_000)}`) }),
      tooLong,
      'a text that is no JSON',
    );
  });

  const chain = (length: number, link: (next: object) => object) => {
    const end: [string, object] = [String(length), { type: 'string' }];
    const links = Array.from({ length }, (_, i): [string, object] => [String(i), link({ $ref: `#/$defs/${i + 1}` })]);
    return { $ref: '#/$defs/0', $defs: Object.fromEntries([...links, end]) };
  };
  const optional = (count: number, prefix = 'k') =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, { type: 'boolean' }]));
  let types: object = { type: 'string' };
  for (let i = 0; i < 40; i++) types = { type: ['object', 'array'], properties: { a: types } };

  const schemas: Record<string, [RegExp, object]> = {
    'references in a row': [/different references/, chain(5_000, (next) => next)],
    'references below objects': [/different references/, chain(3_000, (a) => ({ type: 'object', properties: { a } }))],
    'a reference to itself': [/leads to itself/, { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }],
    'a reference to itself in allOf': [
      /leads to itself/,
      {
        allOf: [{ $ref: '#/$defs/a' }, { type: 'object' }],
        $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
      },
    ],
    'a long name': [
      /more than 1024 bytes/,
      { type: 'object', properties: { ['_'.repeat(nLevels)]: {} }, additionalProperties: { type: 'string' } },
    ],
    'a long reference': [/more than 1024 bytes/, { $ref: `#/$defs/${'_'.repeat(nLevels)}` }],
    'many optional properties': [/500 properties/, { type: 'object', properties: optional(8_000) }],
    'many optional properties in alternatives': [
      /500 properties/,
      { allOf: [{ anyOf: ['a', 'b', 'c'].map((prefix) => ({ properties: optional(200, prefix) })) }] },
    ],
    'types that multiply': [/20000 parts/, types],
    'types again and again': [/more than 7 types/, { type: Array(8_000).fill('null'), enum: Object.keys(optional(8_000)) }],
  };

  await t.test('schemas of answers and of tools', async (t) => {
    for (const [what, [why, schema]] of Object.entries(schemas)) {
      const refusal = (member: RegExp) => ({
        code: 'invalid_grammar',
        message: new RegExp(`^${member.source} cannot be followed: .*${why.source}`),
      });
      await t.rejects(run({ jsonSchema: JSON.stringify(schema) }), refusal(/the JSON schema/), what);
      const tools = [{ type: 'function', function: { name: 'store', parameters: schema } }];
      await t.rejects(run({ tools }), refusal(/tools\[0\]\.function\.parameters/), `${what}, of a tool`);
    }
  });

  await t.test('schemas that people write', async (t) => {
    const tree = { type: 'object', properties: { next: { $ref: '#/$defs/tree' }, name: { type: ['string', 'null'] } } };
    const accepted: Record<string, object> = {
      'one that contains itself': { $ref: '#/$defs/tree', $defs: { tree } },
      'a hundred definitions': chain(100, (a) => ({ type: 'object', properties: { a } })),
      'types that may be null, ten levels deep': Array.from({ length: 10 }).reduce<object>(
        (a) => ({ type: ['object', 'null'], properties: { a } }),
        { type: 'string' },
      ),
      'a thousand required properties': {
        type: 'object',
        properties: optional(1_000),
        required: Object.keys(optional(1_000)),
      },
    };
    for (const [what, schema] of Object.entries(accepted)) await t.resolves(run({ jsonSchema: JSON.stringify(schema) }), what);
  });

  await t.test('the name of a tool', async (t) => {
    const tools = [{ type: 'function', function: { name: '_'.repeat(nLevels), parameters: { type: 'object' } } }];
    await t.rejects(run({ tools }), {
      code: 'invalid_argument',
      message: /^tools\[0\]\.function\.name has more than 1024 bytes/,
    });
  });

  await t.test('grammars', async (t) => {
    const grammar = `root ::= ${'('.repeat(nLevels / 2)}"a"${')'.repeat(nLevels / 2)}`;
    await t.rejects(run({ grammar }), { code: 'invalid_grammar', message: /nested too deeply/ }, 'groups');
    const nRules = 20_000;
    const name = (i: number) => `r${i.toString(36)}`;
    const rules = Array.from({ length: nRules }, (_, i) => `${name(i)}::=${name(i + 1)}`);
    await t.resolves(run({ grammar: `root ::= r0\n${rules.join('\n')}\n${name(nRules)} ::= "a"` }), 'rules in a row');
  });
});

const folder = await vocabularyFolder();

/** Formats whose parsers have a recursion of their own, with the answer that calls store(). */
const formats: Record<string, (value: string) => string> = {
  'Qwen-Qwen3-0.6B': (value) => `<tool_call>\n{"name": "store", "arguments": {"value": ${value}}}\n</tool_call>`,
  'Qwen3-Coder': (value) => `<tool_call>\n<function=store>\n<parameter=value>\n${value}\n</parameter>\n</function>\n</tool_call>`,
  'LFM2-8B-A1B': (value) => `<|tool_call_start|>[store(value=${value})]<|tool_call_end|>`,
  'google-gemma-4-31B-it': (value) => `<|tool_call>call:store{value:${value}}<tool_call|>`,
};

/** What comes of answers to the template, read so many bytes at a time; ends with a signal where the program does. */
async function read(template: string, answer: string, nBytes: number): Promise<{ content: number; callArguments: number }> {
  const args = [nativeFolder(), join(folder, 'ggml-vocab-llama-spm.gguf'), 'read', '1', String(nBytes)];
  const input = `${readFileSync(join(folder, 'templates', `${template}.jinja`), 'utf8')}\0${answer}\0`;
  const line = execFileSync(await referenceProgram('chat-reference'), args, { input, encoding: 'utf8' });
  const [, content, callArguments] = /^content (\d+), reasoning 0(?:, store (\d+))?$/.exec(line.trim()) ?? [];
  return { content: Number(content), callArguments: Number(callArguments ?? 0) };
}

t.test('answers', { skip: noReferences() }, async (t) => {
  for (const [template, write] of Object.entries(formats)) {
    const whole = 1 << 30;
    for (const nBytes of [4, whole]) {
      const sound = await read(template, write(nested(120)), nBytes);
      t.ok(sound.content === 0 && sound.callArguments > 240, `${template}, ${nBytes} bytes at a time: 120 levels are a call`);
      const wild = write(nested(nLevels));
      const { content, callArguments } = await read(template, wild, nBytes);
      t.ok(callArguments < 3_000, `${callArguments} bytes of a call that is nested too deeply`);
      if (callArguments === 0) t.equal(content, wild.length, 'all of it is content');
    }
    for (const item of ['"]]]]"', "'it\\'s ]'", '{"a":"}}"}']) {
      const hidden = write(`${`[${item},`.repeat(nLevels)}${']'.repeat(nLevels)}`);
      await t.resolves(read(template, hidden, whole), `closing brackets in strings: ${item}`);
    }
  }
});

t.test('brackets of prose do not make a call too deep', { skip: noReferences() }, async (t) => {
  const prose = 'From [0, 1) it\'s "[[" on, :[ \n'.repeat(300);
  for (const [template, write] of Object.entries(formats)) {
    if (template.startsWith('google')) continue; // Counts every bracket.
    const { content, callArguments } = await read(template, prose + write(nested(100)), 1 << 30);
    t.ok(content > 0 && callArguments > 200, template);
  }
});
