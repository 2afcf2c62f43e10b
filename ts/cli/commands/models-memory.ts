import type { Answer } from '../../client/client.ts';
import { formatBytes } from '../format.ts';
import { requestCommand, serverCommand } from '../server-command.ts';

const name = [{ name: 'NAME', help: 'model, as `svc models list` names it' }];

export const modelsLoad = serverCommand({
  words: ['models', 'load'],
  summary: 'Load a model into the memory of a running server',
  positionals: name,
  options: { pin: { kind: 'flag', help: 'keep it there until the server restarts' } },
  examples: ['svc models load qwen3-0.6b-q8_0 --pin'],
  async run({ positionals: [id = ''], options, client, terminal }) {
    const loaded = await client.call('POST /api/v1/inference/models/{id}/load', { params: { id }, body: {} });
    const shown = options.pin
      ? await client.call('PUT /api/v1/inference/models/{id}/pin', { params: { id }, body: { pinned: true } })
      : loaded;
    terminal.result(shown, stateText(shown));
    return 'ok';
  },
});

export const modelsUnload = requestCommand({
  words: ['models', 'unload'],
  summary: 'Free the memory of a model on a running server',
  positionals: name,
  options: { force: { kind: 'flag', help: 'end its running requests instead of waiting for them' } },
  examples: ['svc models unload qwen3-0.6b-q8_0'],
  route: 'POST /api/v1/inference/models/{id}/unload',
  given: ({ positionals: [id = ''], options }) => ({ params: { id }, body: { force: options.force === true } }),
  text: stateText,
});

function stateText({ id, state, pinned, memory_bytes }: Answer<'PUT /api/v1/inference/models/{id}/pin'>): string {
  const memory = memory_bytes === undefined ? '' : `, ${formatBytes(memory_bytes)} of memory`;
  return `${id} is ${state}${memory}${pinned ? ', pinned' : ''}`;
}
