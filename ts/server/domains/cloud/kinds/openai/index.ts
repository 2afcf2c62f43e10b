/** OpenAI, and whatever speaks its API: OpenRouter, vLLM, SGLang, llama-server, another svc. */

import { countOf, isObject, type Json, jsonText, listOf, objectOf } from '../json.ts';
import { BrokenFrame, type EmbeddingAnswer, type Kind, type ListedModel, type RankAnswer, readVectors } from '../kind.ts';
import { OpenAiReader } from './frames.ts';
import { chatRequest } from './request.ts';

export const openai: Kind = {
  framing: 'sse',
  hasPath: true,
  needsKey: false,
  authorize: (key) => (key === '' ? {} : { authorization: `Bearer ${key}` }),
  chat: (call, { preset }) => chatRequest(call, preset),
  reader: () => new OpenAiReader(),
  models: {
    request: () => ({ method: 'GET', path: '/models' }),
    read: (body) => listOf(objectOf(body)['data']).flatMap(readModel),
  },
  embeddings: {
    request: (model, input) => ({ path: '/embeddings', body: jsonText({ model, input, encoding_format: 'float' }) }),
    read: readEmbeddings,
  },
  rerank: {
    request: (model, query, documents) => ({ path: '/rerank', body: jsonText({ model, query, documents }) }),
    read: readRanks,
  },
};

export function readModel(entry: unknown): ListedModel[] {
  if (!isObject(entry) || typeof entry['id'] !== 'string') return [];
  const { capabilities, architecture } = entry;
  const known = Array.isArray(capabilities)
    ? capabilities.filter((one) => typeof one === 'string')
    : modalitiesOf(architecture, entry);
  const contextLength = countOf(entry['context_length']) ?? countOf(entry['max_model_len']);
  return [{ id: entry['id'], ...(known && { capabilities: known as string[] }), ...(contextLength && { contextLength }) }];
}

/** OpenRouter says what goes in, and which members a model takes. */
function modalitiesOf(architecture: unknown, entry: Json): string[] | undefined {
  const modalities = objectOf(architecture)['input_modalities'];
  if (!Array.isArray(modalities)) return undefined;
  const members = listOf(entry['supported_parameters']);
  return [
    'chat',
    ...(members.includes('tools') ? ['tools'] : []),
    ...(modalities.includes('image') ? ['vision'] : []),
    ...(modalities.includes('audio') ? ['audio'] : []),
    ...(members.includes('reasoning') ? ['thinking'] : []),
  ];
}

export function readEmbeddings(body: unknown): EmbeddingAnswer {
  const rows = listOf(objectOf(body)['data']).map(objectOf);
  const vectors = readVectors(rows.map(({ embedding }) => embedding));
  const inOrder = rows.map(({ index }, place) => countOf(index) ?? place);
  const sorted: Float32Array[] = [];
  for (const [place, index] of inOrder.entries()) sorted[index] = vectors[place] as Float32Array;
  const usage = objectOf(objectOf(body)['usage']);
  return { vectors: sorted, nTokens: countOf(usage['prompt_tokens']) ?? countOf(usage['total_tokens']) };
}

/** Jina's and Cohere's form, which vLLM, llama-server and svc answer. */
function readRanks(body: unknown, nDocuments: number): RankAnswer {
  const scores = new Float32Array(nDocuments);
  for (const row of listOf(objectOf(body)['results']).map(objectOf)) {
    const index = countOf(row['index']);
    const score = row['relevance_score'] ?? row['score'];
    if (index === undefined || index >= nDocuments || typeof score !== 'number') throw new BrokenFrame('a score has no place');
    scores[index] = score;
  }
  const usage = objectOf(objectOf(body)['usage']);
  return { scores, nTokens: countOf(usage['total_tokens']) ?? countOf(usage['prompt_tokens']) };
}
