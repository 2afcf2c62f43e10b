/**
 * The functions of the Berkeley Function Calling Leaderboard: each becomes a schema that the engine follows, and what a random model calls it with
 * satisfies the schema, as Ajv decides it. SVC_TEST_FUNCTION_CALLS: how many calls are made.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { vocabularyFolder } from '../../../models/random/vocabulary.ts';
import { iterations } from '../../../test/test-support/iterations.ts';
import { SchemaReader } from '../../../ts/server/domains/completions/compat/json-schema.ts';
import { isMembers, type Members } from '../../../ts/server/domains/completions/compat/members.ts';
import { readFunction, toolSchemas } from '../../../ts/server/domains/completions/compat/tools.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';
import { forcedArguments } from './completion.ts';

const data = join(import.meta.dirname, '../../../../shared/data/bfcl');
const skip = existsSync(data) ? false : `${data} is not there`;
const nCalls = iterations(150, 800, 'SVC_TEST_FUNCTION_CALLS');
t.setTimeout(3_600_000);

/** Python's, Java's and JavaScript's names of types. */
const TYPES: Readonly<Record<string, string | undefined>> = {
  dict: 'object',
  HashMap: 'object',
  float: 'number',
  double: 'number',
  long: 'integer',
  tuple: 'array',
  Array: 'array',
  ArrayList: 'array',
  String: 'string',
  char: 'string',
  Boolean: 'boolean',
  any: undefined,
  '': undefined,
};
/** Members of their definitions that are no keywords: what stands there is for people. */
const NO_KEYWORDS = new Set(['optional', 'default', 'example', 'examples', 'format', 'description', 'required']);

interface CalledFunction {
  readonly name: string;
  readonly parameters: Members;
}

/** The same in the words of JSON Schema. @param isNames the members are names of properties. */
function mapped(value: unknown, isNames = false): unknown {
  if (!isMembers(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (isNames) return [[name, mapped(member)]];
    if (name === 'type') {
      const type = typeof member === 'string' && Object.hasOwn(TYPES, member) ? TYPES[member] : member;
      return type === undefined ? [] : [[name, type]];
    }
    if (name === 'properties') return [[name, mapped(member, true)]];
    if (name === 'required') return Array.isArray(member) ? [[name, member]] : [];
    return NO_KEYWORDS.has(name) ? [] : [[name, mapped(member)]];
  });
  const schema = Object.fromEntries(members) as Members;
  const { type, enum: values, items } = schema;
  // A list whose values are listed as if it were one of them: the list of its items.
  if (type !== 'array' || !Array.isArray(values) || values.some(Array.isArray)) return schema;
  const { enum: _, ...rest } = schema;
  return { ...rest, items: { ...(items as Members | undefined), enum: values as unknown[] } };
}

function functions(): CalledFunction[] {
  const lines = readdirSync(data)
    .filter((file) => file.endsWith('.jsonl.gz'))
    .flatMap((file) =>
      gunzipSync(readFileSync(join(data, file)))
        .toString()
        .split('\n')
        .filter(Boolean),
    );
  const found = lines.flatMap((line) => (JSON.parse(line) as { function: { name: string; parameters: Members }[] }).function);
  // Of one name and shape there is one.
  const all = found.map(({ name, parameters }) => ({ name, parameters: mapped(parameters) as Members }));
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
}

/** Prepares what the engine gets of a function. */
function prepared({ name, parameters }: CalledFunction) {
  const schemas = new SchemaReader();
  const tool = readFunction({ name, parameters, strict: false }, 'tools[0].function', schemas);
  const followed = toolSchemas({ tools: [tool], choice: 'required' }, schemas).toolSchemas;
  return { name, shown: tool.shown, ignored: schemas.ignored, refusal: schemas.refusal, followed: String(followed) };
}

t.test('each function becomes a schema, whole, and calls of random models satisfy it', { skip }, async (t) => {
  const all = functions();
  t.ok(all.length > 1_200, `${all.length} functions`);
  const ajv = new Ajv({ strict: false, logger: false });
  const ready = all.map((each) => ({ ...prepared(each), isValid: ajv.compile(each.parameters) }));
  t.strictSame(
    ready.filter(({ ignored, refusal }) => ignored || refusal !== undefined).map(({ name, ignored }) => [name, ignored]),
    [],
    'nothing is left out or refused',
  );
  const path = await randomModel({ arch: 'llama', shape: 'tiny', seed: 1 });
  const chatTemplate = readFileSync(
    join(await vocabularyFolder(), 'templates/NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use.jinja'),
    'utf8',
  );
  const model = await LlamaModel.load({ path, chatTemplate });
  const engine = await model.createEngine({ nCtx: 32_768, nParallel: 8 });
  t.teardown(async () => {
    await engine.close();
    await model.close();
  });
  // A string or a list that may be any would hardly come to an end.
  const ends: [number, number][] = [];
  for (const text of ['"', '"}', '"]', ']', '}', '",']) {
    // The word before it takes the space that the vocabulary puts in front.
    const token = (await model.tokenize(`a${text}`, { addSpecial: false })).at(-1);
    if (token !== undefined) ends.push([token, 6]);
  }
  let nEnded = 0;
  let next = 0;
  const step = Math.max(1, Math.floor(ready.length / nCalls));
  const worker = async (): Promise<void> => {
    for (let n = next++; n < nCalls; n = next++) {
      const each = ready[(n * step) % ready.length] as (typeof ready)[number];
      const text = await forcedArguments(engine, {
        toolsJson: JSON.stringify([each.shown]),
        question: 'Call it.',
        toolSchemas: each.followed,
        seed: n + 1,
        logitBias: ends,
        maxTokens: 600,
      });
      if (text === undefined) continue;
      nEnded += 1;
      if (!each.isValid(JSON.parse(text))) t.fail(`${each.name}: ${text} (${ajv.errorsText(each.isValid.errors)})`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  t.comment(`${nEnded} of ${nCalls} calls came to their end`);
  t.ok(nEnded > nCalls * 0.9, `${nEnded} of ${nCalls} calls came to their end`);
});
