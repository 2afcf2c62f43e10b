import { noteSubstitute } from '../chat/chat-session.ts';
import { type ChatAnswer, streamChat } from '../chat/chat-stream.ts';
import { printable } from '../format.ts';
import { DEFAULT_NAMESPACE, namespaceOption, placeOf } from '../knowledge/knowledge-client.ts';
import { askModels, findChatModel } from '../served-model.ts';
import { serverCommand } from '../server-command.ts';

type Unindexed = NonNullable<ChatAnswer['unindexed']>;

const MOST_SHOWN = 5;

export const kbAsk = serverCommand({
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
  async run({ options, positionals, client, signal, terminal }) {
    const model = options.model ?? findChatModel(await askModels(client, signal))?.id ?? 'default';
    const messages = [{ role: 'user' as const, content: positionals.join(' ') }];
    const onText = (text: string) => terminal.json || terminal.write(printable(text));
    const request = { model, messages, knowledge: [options.namespace ?? DEFAULT_NAMESPACE] };
    const answer = await streamChat(client, request, { onText }, signal);
    const { text, citations, unindexed } = answer;
    const sources = citations.map((citation) => `[${citation.n}] ${placeOf(citation)}`).join('\n') || '(nothing cited)';
    const kept = unindexed === undefined ? '' : `\n\n${unindexedText(unindexed)}`;
    terminal.result({ model: answer.model, text, citations, unindexed }, printable(`\n\n${sources}${kept}`));
    if (options.model !== undefined) noteSubstitute(terminal, options.model, answer.model);
    return 'ok';
  },
});

function unindexedText({ count, files }: Unindexed): string {
  const shown = files.slice(0, MOST_SHOWN).map(({ source, detail }) => `  ${source}: ${detail}`);
  const rest = count > shown.length ? [`  and ${count - shown.length} more`] : [];
  return ['stored without an index, so not searched:', ...shown, ...rest].join('\n');
}
