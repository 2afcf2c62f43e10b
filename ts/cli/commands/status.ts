import { sentenceOf } from '../../client/refusal.ts';
import { firstModelsText } from '../first-models.ts';
import { formatTable, printable } from '../format.ts';
import { askModels, type ServedModel } from '../served-model.ts';
import { atOnce, readAnswer } from '../server-client.ts';
import { serverCommand } from '../server-command.ts';

type Fields = Record<string, unknown>;

export const status = serverCommand({
  words: ['status'],
  summary: 'Ask a running server how it is and which models it has',
  examples: ['svc status', 'svc status --url http://10.0.0.5:8880 --json'],
  async run({ client, terminal, signal }) {
    const health = await readAnswer(await client.ask('GET /health', { signal: atOnce(signal) }));
    const ready = await readAnswer(await client.ask('GET /readyz', { signal: atOnce(signal) }));
    const isReady = ready.status === 200;
    const list = await askModels(client, signal);
    terminal.result(
      { url: client.base.origin, ready: isReady, ready_status: ready.status, health: health.body, models: list },
      [
        ...summary(client.base.origin, isReady, ready.body, fields(health.body)),
        '',
        formatModels(list),
        ...moreModels(list),
      ].join('\n'),
    );
    return isReady ? 'ok' : 'failed';
  },
});

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

function summary(origin: string, isReady: boolean, readiness: unknown, health: Fields): string[] {
  const why = isReady ? '' : `: ${printable(sentenceOf(readiness) ?? 'no reason given')}`;
  const plain = Object.entries(health).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  const nested = Object.entries(health).filter(([, value]) => typeof value === 'object' && value !== null);
  return [
    `${origin} is ${isReady ? 'ready' : 'not ready'}${why}`,
    ...plain.map(([key, value]) => `  ${key.padEnd(22)} ${printable(String(value))}`),
    ...nested.map(([key, value]) => `  ${key.padEnd(22)} ${printable(JSON.stringify(value))}`),
  ];
}

/** A demonstration has a note, as a model has that cannot be used. */
function moreModels(models: readonly ServedModel[]): string[] {
  const isThere = models.some(({ capabilities = [], note }) => capabilities.includes('chat') && note === undefined);
  return isThere ? [] : ['', `A model that talks: ${firstModelsText()}`];
}

function formatModels(models: readonly ServedModel[]): string {
  if (models.length === 0) return 'No models.';
  const rows = models.map(({ id, capabilities = [], state = '-', note = '' }) =>
    [id, capabilities.join(' '), state, note].map(printable),
  );
  return formatTable(['MODEL', 'CAN', 'STATE', 'NOTE'], rows);
}
