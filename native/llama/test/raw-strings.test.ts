/**
 * Calls of chat formats that write arguments one by one, strings without quotation marks: what random models write satisfies the schema, as Ajv
 * decides it; and which formats follow what is the same by a template's text and by the loaded model.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { vocabularyFolder } from '../../../models/random/vocabulary.ts';
import { iterations } from '../../../test/test-support/iterations.ts';
import { SchemaReader } from '../../../ts/server/domains/completions/compat/json-schema.ts';
import type { Members } from '../../../ts/server/domains/completions/compat/members.ts';
import { type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { callArgumentsOf } from '../../../ts/server/platform/gguf/chat-template.ts';
import { forcedArguments } from './completion.ts';

t.setTimeout(600_000);

const folder = join(await vocabularyFolder(), 'templates');
const path = await randomModel({ arch: 'llama', shape: 'tiny', seed: 1 });
const templateOf = (name: string) => readFileSync(join(folder, `${name}.jinja`), 'utf8');

t.test("upstream's templates: the text of each tells what the loaded model knows of its calls", async (t) => {
  const found: Record<string, string[]> = { json: [], tagged: [], free: [] };
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.jinja'))) {
    const chatTemplate = readFileSync(join(folder, file), 'utf8');
    // Some need what a model without their tokens has not, and are refused when it is loaded.
    const model = await LlamaModel.load({ path, chatTemplate }).catch(() => undefined);
    if (model === undefined) continue;
    const { callArguments, supportsTools } = model.info;
    await model.close();
    if (!supportsTools) continue;
    t.equal(callArgumentsOf(chatTemplate), callArguments, file);
    found[callArguments]?.push(file);
  }
  for (const [notation, files] of Object.entries(found)) t.ok(files.length > 1, `${notation}: ${files.join(', ')}`);
});

const strings: Readonly<Record<string, Members>> = {
  enum: { enum: ['hall', 'a "b"', 'two\nlines', '<', ''] },
  const: { const: 'é\\n' },
  pattern: { type: 'string', pattern: '^[^a]{6}$' },
  'pattern of alternatives': { type: 'string', pattern: '^(on|off)?$' },
  maxLength: { type: 'string', maxLength: 3 },
  lengths: { type: 'string', minLength: 2, maxLength: 4 },
  date: { type: 'string', format: 'date' },
  email: { type: 'string', format: 'email' },
  'a string or null': { anyOf: [{ type: 'string', pattern: '^x{3}$' }, { type: 'null' }] },
  'a number': { type: 'integer', minimum: 5, maximum: 6 },
  'a list': { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2, maxItems: 2 },
};
/** A string that may be any text would hardly come to an end. */
const schemaOf = (string: Members): Members => ({
  type: 'object',
  properties: { limited: string },
  required: ['limited'],
  additionalProperties: false,
});

/** The arguments of the first call; undefined where it did not come to an end. */
function call(engine: LlamaEngine, schema: Members, seed: number): Promise<string | undefined> {
  const stated = { param: 'tools[0].function.parameters', tool: 'set', isStrict: true };
  const reader = new SchemaReader();
  const followed = reader.ofTool(reader.read(schema, stated), stated);
  if (reader.byNotation?.tagged !== undefined) throw new Error(`not followed: ${JSON.stringify(reader.byNotation.tagged)}`);
  const toolsJson = JSON.stringify([{ type: 'function', function: { name: 'set', parameters: schema } }]);
  return forcedArguments(engine, {
    toolsJson,
    question: 'Set it.',
    toolSchemas: JSON.stringify({ set: followed }),
    seed,
    maxTokens: 300,
  });
}

/** A format that llama.cpp finds out by comparing what the template renders, as it does for GLM, without thinking before the call. */
const taggedTemplate = `{%- for tool in tools or [] %}{{ tool | tojson }}
{% endfor %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.content %}{{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}<call>{{ call.function.name }}
{%- for name, value in call.function.arguments | items -%}
<key>{{ name }}</key><value>{{ value if value is string else value | tojson }}</value>
{%- endfor %}</call>{% endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;
const forcing: Readonly<Record<string, string>> = {
  'Qwen3-Coder': templateOf('Qwen3-Coder'),
  'a template of tags': taggedTemplate,
};

for (const [name, chatTemplate] of Object.entries(forcing))
  t.test(`${name}: what a random model calls with satisfies the schema`, { timeout: 300_000 }, async (t) => {
    const model = await LlamaModel.load({ path, chatTemplate });
    t.equal(model.info.callArguments, 'tagged');
    const engine = await model.createEngine({ nCtx: 8192, nParallel: 4 });
    const ajv = new Ajv({
      logger: false,
      formats: { date: true, email: /^[\w+-]+(\.[\w+-]+)*@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/ },
    });
    for (const [label, string] of Object.entries(strings)) {
      const schema = schemaOf(string);
      const isValid = ajv.compile(schema);
      const seeds = Array.from({ length: iterations(8, 80) }, (_, i) => i + 1);
      const calls = await Promise.all(seeds.map((seed) => call(engine, schema, seed)));
      const ended = calls.filter((each) => each !== undefined);
      t.ok(ended.length > 0, `${label}: ${ended.length} calls`);
      for (const text of ended) t.ok(isValid(JSON.parse(text)), `${label}: ${text}`);
    }
    await engine.close();
    await model.close();
  });
