/**
 * Grammars, schemas and patterns that expand: what they take is counted as they are read, so that a few bytes cost neither the
 * memory of the process nor the time of other tenants.
 */
import t, { type Test } from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { isSanitized } from '../../../test/test-support/sanitizer.ts';
import { type GenerationJob, type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';

const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'tiny' }) });
t.teardown(() => model.close());

async function open(t: Test): Promise<LlamaEngine> {
  const engine = await model.createEngine({ nCtx: 16_384, nParallel: 1, nThreads: 1 });
  t.teardown(() => engine.close());
  return engine;
}

const text = { kind: 'text', text: 'Once' } as const;
const ask = (engine: LlamaEngine, job: Partial<GenerationJob>) => complete(engine, { prompt: text, maxTokens: 1, ...job });
/** With one tool that is called with a schema, as each template writes its own grammar around it. */
const withTool = (parameters: object): Partial<GenerationJob> => ({
  prompt: {
    kind: 'chat',
    messagesJson: '[{"role":"user","content":"Store it"}]',
    toolsJson: JSON.stringify([{ type: 'function', function: { name: 'store', parameters } }]),
    toolChoice: 'required',
  },
});
const tooComplex = { code: 'grammar_too_complex' };
const peakBytes = () => process.resourceUsage().maxRSS * 1024;
const times = (count: number, part: (i: number) => string, between = ' ') =>
  Array.from({ length: count }, (_, i) => part(i)).join(between);

/** Megabytes that the process grew by at its peak, beyond any peak before. */
async function growthOf(work: () => Promise<unknown>): Promise<number> {
  const before = peakBytes();
  await work();
  return (peakBytes() - before) / 2 ** 20;
}

const expanding: Readonly<Record<string, Partial<GenerationJob>>> = {
  'repetitions of repetitions': { grammar: `root ::= ${times(40, () => '"a"{999}{999}')}` },
  'bounded repetitions': { grammar: `root ::= ${times(1_500, () => '[a-z]{0,2000}')}` },
  'repetitions in groups': { grammar: `root ::= ${times(500, () => '("a"{0,1999} | "b"{1999})')}` },
  'the pattern of a schema': {
    jsonSchema: JSON.stringify({ type: 'string', pattern: `^${times(400, () => '[a-z]{0,2000}', '')}$` }),
  },
};

t.test('a few bytes that stand for megabytes are refused before they take them', async (t) => {
  const engine = await open(t);
  await ask(engine, { grammar: 'root ::= "a"{1,99}' });
  for (const [what, job] of Object.entries(expanding)) {
    const growth = await growthOf(() => t.rejects(ask(engine, job), tooComplex, what));
    t.ok(growth < (isSanitized() ? 800 : 100), `${what}: ${growth.toFixed(0)} MB`);
  }
});

t.test('repetitions that people write are followed', async (t) => {
  const engine = await open(t);
  for (const grammar of [
    'root ::= "a"{30}{30}',
    `root ::= ${times(20, () => '[a-z]{0,200}')}`,
    'root ::= ([a-z]{1,40} " "){0,400}',
  ])
    await t.resolves(ask(engine, { grammar }), grammar);
});

t.test('a grammar and a schema have as many bytes as may be', async (t) => {
  const engine = await open(t);
  const long = ' '.repeat(256 * 1024);
  const message = /262144 bytes/;
  await t.rejects(ask(engine, { grammar: `root ::= "a"${long}` }), { code: 'grammar_too_complex', message });
  await t.rejects(ask(engine, { jsonSchema: `{"type":"string"${long}}` }), { code: 'grammar_too_complex', message });
});

const properties = (count: number, name: (i: number) => string, schema: (i: number) => object = () => ({ type: 'boolean' })) => {
  const members = Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), schema(i)]));
  return { type: 'object', properties: members, required: Object.keys(members) };
};
/** The digits of a number in signs that a rule's name may not have. */
const signs = (i: number) => [...i.toString(8)].map((digit) => '!#$%&()*'[Number(digit)]).join('');
const { required: _, ...optional } = properties(400, (i) => `k${i}`);

/** Each refers to the next one twice, so that each doubles the ways through them. */
const forks = Object.fromEntries(
  Array.from({ length: 40 }, (_, i) => [`a${i}`, { anyOf: [1, 2].map(() => ({ $ref: `#/$defs/a${i + 1}` })) }]),
);

/** What the conversion to a grammar would take seconds for. */
const slowSchemas: Readonly<Record<string, object>> = {
  'thousands of patterns': properties(
    5_000,
    (i) => `k${i}`,
    (i) => ({ type: 'string', pattern: `^[a-z]{${i}}$` }),
  ),
  'names that become the same name of a rule': properties(6_000, signs),
  'many objects with much that is optional': properties(
    20,
    (i) => `k${i}`,
    () => optional,
  ),
  'alternatives of alternatives': {
    ...properties(
      1,
      () => 'value',
      () => ({ $ref: '#/$defs/a0' }),
    ),
    $defs: { ...forks, a40: { type: 'object' } },
  },
  'the same object again and again': {
    allOf: Array.from({ length: 3_000 }, () => ({ $ref: '#/$defs/a' })),
    $defs: { a: properties(3_000, (i) => `k${i}`) },
  },
  'long names below each other': Array.from({ length: 60 }, (_, i) => 'k'.repeat(1_000) + i).reduce(
    (below, name) =>
      properties(
        1,
        () => name,
        () => below,
      ),
    properties(4_000, (i) => `${i}`) as object,
  ),
};

t.test('a schema whose conversion would take seconds is refused before it', async (t) => {
  const engine = await open(t);
  for (const [what, schema] of Object.entries(slowSchemas)) {
    const before = process.cpuUsage();
    await t.rejects(ask(engine, { jsonSchema: JSON.stringify(schema) }), tooComplex, what);
    await t.rejects(ask(engine, withTool(schema)), tooComplex, `${what}, of a tool`);
    const { user, system } = process.cpuUsage(before);
    t.ok(user + system < (isSanitized() ? 20e6 : 4e6), `${what}: ${((user + system) / 1e3).toFixed(0)} ms`);
  }
});

t.test('schemas that people write are followed', async (t) => {
  const engine = await open(t);
  const patterns = properties(
    100,
    (i) => `k${i}`,
    () => ({ type: 'string', pattern: '^[a-z]{2,20}$' }),
  );
  const nullable = properties(
    100,
    (i) => `k${i}`,
    () => ({ anyOf: [{ type: 'string' }, { type: 'null' }] }),
  );
  const { required: _, ...options } = properties(120, (i) => `option-${i}`);
  for (const [what, schema] of Object.entries({ patterns, nullable, options })) {
    await t.resolves(ask(engine, { jsonSchema: JSON.stringify(schema) }), what);
    await t.resolves(ask(engine, withTool(schema)), `${what}, of a tool`);
  }
});

/** Within every bound, and the work of many steps. */
const costly = (tag: string): Partial<GenerationJob> => ({
  jsonSchema: JSON.stringify(
    properties(
      1_000,
      (i) => `${tag}${i}`,
      () => ({ type: 'string', pattern: '^[a-z]{1,20}$' }),
    ),
  ),
});

/** The order in which jobs end. The first word of a name is its tenant. */
async function endsOf(engine: LlamaEngine, jobs: Readonly<Record<string, Partial<GenerationJob>>>): Promise<string[]> {
  const ends: string[] = [];
  const run = async ([name, job]: [string, Partial<GenerationJob>]) => {
    // A refusal is an end, too.
    await ask(engine, { tenant: name.split(' ')[0] as string, ...job }).catch(() => undefined);
    ends.push(name);
  };
  await Promise.all(Object.entries(jobs).map(run));
  return ends;
}

t.test('a costly schema holds up neither the prompts of others nor their grammars', async (t) => {
  const ends = await endsOf(await open(t), {
    ...Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`hostile ${i}`, costly(`h${i}`)])),
    plain: {},
    small: { grammar: 'root ::= "a" | "b"' },
    tools: withTool(properties(3, (i) => `k${i}`)),
    large: costly('l'),
  });
  for (const name of ['plain', 'small', 'tools']) t.ok(ends.indexOf(name) < 3, `${name} comes before all of them: ${ends}`);
  const nBefore = ends.slice(0, ends.indexOf('large')).filter((name) => name.startsWith('hostile')).length;
  t.ok(nBefore <= 2, `one thread is left for another tenant: ${ends}`);
});

const conversation = (count: number): Partial<GenerationJob> => ({
  prompt: {
    kind: 'chat',
    messagesJson: `[${times(count, (i) => `{"role":"${i % 2 ? 'assistant' : 'user'}","content":"a"}`, ',')}]`,
  },
});

t.test('a conversation of more messages than the context has tokens is refused before it is rendered', async (t) => {
  const engine = await open(t);
  const message = /at least 20001 tokens/;
  await t.rejects(ask(engine, conversation(20_001)), { code: 'context_length_exceeded', message });
});

const toolbox = (count: number): Partial<GenerationJob> => ({
  prompt: {
    kind: 'chat',
    messagesJson: '[{"role":"user","content":"Store it"}]',
    toolsJson: `[${times(count, (i) => `{"type":"function","function":{"name":"f${i}","parameters":{"type":"object"}}}`, ',')}]`,
  },
});

t.test('the template of many messages or tools holds up no other prompt', async (t) => {
  const engine = await open(t);
  for (const many of [conversation(3_000), toolbox(800)])
    t.strictSame(await endsOf(engine, { many, plain: {} }), ['plain', 'many']);
});

t.test('more tools than can be prepared in time are refused before it', async (t) => {
  const engine = await open(t);
  await t.rejects(ask(engine, toolbox(20_000)), tooComplex);
});
