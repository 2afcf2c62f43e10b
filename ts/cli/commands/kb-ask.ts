import { command } from '../command.ts';
import { printable } from '../format.ts';
import { DEFAULT_NAMESPACE, namespaceOption, placeOf } from '../knowledge/knowledge-client.ts';
import { findChatModel, servedModels } from '../served-model.ts';
import { clientOptions, ServerClient } from '../server-client.ts';

interface Citation {
  n: number;
  document_id: string;
  source: string;
  page?: number;
  sheet?: string;
  slide?: number;
}

interface Answer {
  model: string;
  choices: { message: { content: string | null } }[];
  citations?: Citation[];
  /** Files that are kept and that no search finds. */
  unindexed?: { count: number; files: { source: string; detail: string }[] };
}

const MOST_SHOWN = 5;

export const kbAsk = command({
  words: ['kb', 'ask'],
  summary: 'Ask a question of a knowledge base; the answer cites its passages',
  positionals: [{ name: 'WORDS', help: 'the question', many: true }],
  options: {
    ...clientOptions,
    ...namespaceOption,
    model: {
      kind: 'text',
      value: 'NAME',
      help: 'model that answers (else the server’s default)',
      aliases: ['-m'],
    },
  },
  examples: ['svc kb ask "How do I put it behind nginx?"'],
  async run(invocation) {
    const { options, positionals, terminal, signal } = invocation;
    const client = ServerClient.from(invocation);
    const model = options.model ?? findChatModel(servedModels((await client.get('/v1/models', signal)).body))?.id ?? 'default';
    const body = {
      model,
      knowledge: [options.namespace ?? DEFAULT_NAMESPACE],
      messages: [{ role: 'user', content: positionals.join(' ') }],
    };
    const answer = (await client.send('POST', '/v1/chat/completions', body, signal)) as Answer;
    const text = answer.choices[0]?.message.content ?? '';
    const citations = answer.citations ?? [];
    const sources = citations.map((citation) => `[${citation.n}] ${placeOf(citation)}`);
    const shown = sources.length === 0 ? `${text}\n\n(nothing cited)` : `${text}\n\n${sources.join('\n')}`;
    const kept = answer.unindexed === undefined ? '' : `\n\n${unindexedText(answer.unindexed)}`;
    const { unindexed } = answer;
    terminal.result({ model: answer.model, text, citations, ...(unindexed && { unindexed }) }, printable(shown + kept));
    return 'ok';
  },
});

function unindexedText({ count, files }: NonNullable<Answer['unindexed']>): string {
  const shown = files.slice(0, MOST_SHOWN).map(({ source, detail }) => `  ${source}: ${detail}`);
  const rest = count > shown.length ? [`  and ${count - shown.length} more`] : [];
  return ['stored without an index, so not searched:', ...shown, ...rest].join('\n');
}
