/** Anthropic's Messages API. */
import { listOf, objectOf } from '../json.ts';
import type { Kind } from '../kind.ts';
import { readModel } from '../openai/index.ts';
import { AnthropicReader } from './frames.ts';
import { chatRequest } from './request.ts';

export const anthropic: Kind = {
  framing: 'sse',
  hasPath: false,
  needsKey: true,
  authorize: (key) => ({ 'x-api-key': key }),
  chat: (call) => chatRequest(call),
  reader: () => new AnthropicReader(),
  models: {
    request: () => ({ method: 'GET', path: '/v1/models?limit=1000', headers: { 'anthropic-version': '2023-06-01' } }),
    read: (body) => listOf(objectOf(body)['data']).flatMap(readModel),
  },
};
