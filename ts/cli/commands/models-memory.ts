import { command, type Invocation } from '../command.ts';
import { formatBytes } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

interface LoadedModel {
  id: string;
  state: string;
  pinned: boolean;
  memory_bytes?: number;
}

const name = [{ name: 'NAME', help: 'model, as `svc models list` names it' }];
const url = (model: string, what: string) => `/api/v1/inference/models/${encodeURIComponent(model)}/${what}`;

export const modelsLoad = command({
  words: ['models', 'load'],
  summary: 'Load a model into the memory of a running server',
  positionals: name,
  options: { ...clientOptions, pin: { kind: 'flag', help: 'keep it there until the server restarts' } },
  examples: ['svc models load qwen3-0.6b-q8_0 --pin'],
  async run(invocation) {
    const [model = ''] = invocation.positionals;
    const client = ServerClient.from(invocation);
    let answer = await client.send('POST', url(model, 'load'), {}, invocation.signal);
    if (invocation.options.pin) answer = await client.send('PUT', url(model, 'pin'), { pinned: true }, invocation.signal);
    return report(invocation, answer as LoadedModel);
  },
});

export const modelsUnload = command({
  words: ['models', 'unload'],
  summary: 'Free the memory of a model on a running server',
  positionals: name,
  options: { ...clientOptions, force: { kind: 'flag', help: 'end its running requests instead of waiting for them' } },
  examples: ['svc models unload qwen3-0.6b-q8_0'],
  async run(invocation) {
    const [model = ''] = invocation.positionals;
    const body = { force: invocation.options.force === true };
    return report(
      invocation,
      (await ServerClient.from(invocation).send('POST', url(model, 'unload'), body, invocation.signal)) as LoadedModel,
    );
  },
});

function report({ terminal }: Pick<Invocation, 'terminal'>, answer: LoadedModel): 'ok' {
  const { id, state, pinned, memory_bytes } = answer;
  const memory = memory_bytes === undefined ? '' : `, ${formatBytes(memory_bytes)} of memory`;
  terminal.result(answer, `${id} is ${state}${memory}${pinned ? ', pinned' : ''}`);
  return 'ok';
}
