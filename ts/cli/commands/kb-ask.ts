import type { Answer } from '../../client/client.ts';
import { printable } from '../format.ts';
import { DEFAULT_NAMESPACE, namespaceOption, placeOf } from '../knowledge/knowledge-client.ts';
import { askModels, findChatModel } from '../served-model.ts';
import { requestCommand } from '../server-command.ts';

type Unindexed = NonNullable<Answer<'POST /v1/chat/completions'>['unindexed']>;

const MOST_SHOWN = 5;

export const kbAsk = requestCommand({
  words: ['kb', 'ask'],
  summary: 'Ask a question of a knowledge base; the answer cites its passages',
  positionals: [{ name: 'WORDS', help: 'the question', many: true }],
  options: {
    ...namespaceOption,
    model: {
      kind: 'text',
      value: 'NAME',
      help: 'model that answers (else the server’s default)',
      aliases: ['-m'],
    },
  },
  examples: ['svc kb ask "How do I put it behind nginx?"'],
  route: 'POST /v1/chat/completions',
  given: async ({ options, positionals, client, signal }) => {
    const model = options.model ?? findChatModel(await askModels(client, signal))?.id ?? 'default';
    const messages = [{ role: 'user', content: positionals.join(' ') }];
    return { body: { model, knowledge: [options.namespace ?? DEFAULT_NAMESPACE], messages } };
  },
  text: ({ choices: [choice], citations = [], unindexed }) => {
    const sources = citations.map((citation) => `[${citation.n}] ${placeOf(citation)}`).join('\n') || '(nothing cited)';
    const kept = unindexed === undefined ? '' : `\n\n${unindexedText(unindexed)}`;
    return printable(`${choice?.message.content ?? ''}\n\n${sources}${kept}`);
  },
  record: ({ model, choices: [choice], citations = [], unindexed }) => ({
    model,
    text: choice?.message.content ?? '',
    citations,
    unindexed,
  }),
});

function unindexedText({ count, files }: Unindexed): string {
  const shown = files.slice(0, MOST_SHOWN).map(({ source, detail }) => `  ${source}: ${detail}`);
  const rest = count > shown.length ? [`  and ${count - shown.length} more`] : [];
  return ['stored without an index, so not searched:', ...shown, ...rest].join('\n');
}
