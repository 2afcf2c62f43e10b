/** Requests that cost those who answer them most: grammars, schemas and patterns that unfold, and texts by the thousand. */
import type { SeededRandom } from '../../models/random/seeded-random.ts';
import { chatModel, embeddingModel } from '../server.ts';
import type { Body } from './bodies.ts';

type CostlyRequest = [path: string, body: Body];

const user = { role: 'user', content: 'Store it.' };

function chat(more: Body): CostlyRequest {
  return ['/v1/chat/completions', { model: chatModel, messages: [user], max_tokens: 4, ...more }];
}

function ofSchema(schema: object): CostlyRequest {
  return chat({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } });
}

/** Each repetition of a repetition unfolds to a million symbols. */
function hugeGrammar(random: SeededRandom): CostlyRequest {
  const unit = '"a"{999}{999}';
  const count = random.pick([1, 50, 2_000, Math.floor(200_000 / unit.length)]);
  return chat({ grammar: `root ::= ${Array.from({ length: count }, () => unit).join(' ')}` });
}

function manyPatterns(random: SeededRandom): CostlyRequest {
  const names = Array.from({ length: random.pick([200, 2_000, 4_000]) }, (_, i) => `p${i}`);
  const pattern = (name: string) => ({ type: 'string', pattern: `^${name}[a-z]$` });
  return ofSchema({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, pattern(name)])),
    required: names,
  });
}

/** Each takes all letters of Unicode. */
function longPattern(random: SeededRandom): CostlyRequest {
  return ofSchema({ type: 'string', pattern: `^${'\\p{L}'.repeat(random.pick([100, 800, 48_000]))}$` });
}

/** Many tokens in some texts, or few in as many as one may send, which take as long to be read. */
function manyTexts(random: SeededRandom): CostlyRequest {
  return random.pick([() => textsOf('word ', 256, 40), () => textsOf('\u0301', 2_048, 900)])();
}

/** As many tokens as one may send: many seconds of an embedder that nobody else asks. */
export function mostTexts(): CostlyRequest {
  return textsOf('word ', 2_048, 360);
}

function textsOf(unit: string, nTexts: number, nUnits: number): CostlyRequest {
  return [
    '/v1/embeddings',
    { model: embeddingModel, input: Array.from({ length: nTexts }, (_, i) => `${i} ${unit.repeat(nUnits)}`) },
  ];
}

/** Markdown that is nearly a tag. */
function spacesBehindBracket(): CostlyRequest {
  const text = `# Harbour\n\nThe lighthouse stands where the harbour begins.\n\n<${' '.repeat(40_000)}\n`;
  const file_data = `data:text/markdown;base64,${Buffer.from(text).toString('base64')}`;
  const content = [
    { type: 'input_file', filename: 'a.md', file_data },
    { type: 'input_text', text: 'Where is the lighthouse?' },
  ];
  return ['/v1/responses', { model: chatModel, max_output_tokens: 16, input: [{ role: 'user', content }] }];
}

/** Path and body. */
export function costlyRequest(random: SeededRandom): CostlyRequest {
  return random.pick([hugeGrammar, manyPatterns, longPattern, manyTexts, spacesBehindBracket])(random);
}
