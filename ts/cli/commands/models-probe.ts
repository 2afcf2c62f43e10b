import { serverCommand } from '../server-command.ts';
import { readToEnd } from './jobs.ts';

export const modelsProbe = serverCommand({
  words: ['models', 'probe'],
  summary: 'Measure what a chat model can do, and whether it answers from documents or quotes them',
  positionals: [{ name: 'NAME', help: 'model, as `svc models list` names it' }],
  examples: ['svc models probe qwen3-0.6b-q8_0'],
  run: async ({ positionals: [model = ''], client, terminal }) =>
    readToEnd(await client.request('POST /api/v1/models/probe', { body: { model, stream: true } }), terminal),
});
