import type { Client } from '../../client/client.ts';
import { formatTable, printable } from '../format.ts';
import { DEFAULT_NAMESPACE, namespaceOption, type Passage, tenantOf } from '../knowledge/knowledge-client.ts';
import { type EvalQuestion, readQuestions } from '../knowledge/question-file.ts';
import { isWanted, type Place, type Ranked, rankOf } from '../knowledge/retrieval-measures.ts';
import { askModels, findChatModel } from '../served-model.ts';
import { serverCommand } from '../server-command.ts';

/** What came of one question. */
interface Asked {
  readonly question: EvalQuestion;
  readonly ranked: Ranked | undefined;
  /** Whether the search is sure enough for a chat to answer. */
  readonly isAnswerable: boolean;
  readonly best: Passage | undefined;
  /** What the model's answer cites; undefined: no model was asked. */
  readonly citations: readonly Place[] | undefined;
}

const TOP_K = 100;
const MOST_SHOWN = 20;

export const kbEval = serverCommand({
  words: ['kb', 'eval'],
  summary: 'Measure how well a knowledge base answers a file of your own questions',
  positionals: [{ name: 'FILE', help: 'questions as JSON: question with sources (and pages), or with unanswerable: true' }],
  options: {
    ...namespaceOption,
    mode: { kind: 'choice', choices: ['hybrid', 'lexical', 'dense'], help: 'how to search (default: hybrid)' },
    ask: { kind: 'flag', help: 'have a model answer each question, too, and check what it cites' },
    model: {
      kind: 'text',
      value: 'NAME',
      help: 'model that answers (else the server’s default)',
      aliases: ['-m'],
    },
  },
  examples: ['svc kb eval questions.json', 'svc kb eval --ask --json --namespace handbook questions.jsonl'],
  async run({ options, positionals, client, terminal, signal }) {
    const questions = await readQuestions(positionals[0] ?? '');
    const tenant = await tenantOf(client);
    const { namespace = DEFAULT_NAMESPACE, mode } = options;
    const progress = terminal.progress();
    const model = options.ask ? (options.model ?? (await chatModel(client, signal))) : undefined;
    const asked: Asked[] = [];
    for (const [i, question] of questions.entries()) {
      progress.update('asking', i, questions.length);
      const body = { tenant, namespace, query: question.question, top_k: TOP_K, mode };
      const { results, answerable } = await client.call('POST /api/v1/vector/search', { body });
      const citations = model === undefined ? undefined : await citationsOf(client, model, namespace, question.question);
      const ranked = question.sources.length === 0 ? undefined : rankOf(results, question);
      asked.push({ question, ranked, isAnswerable: answerable, best: results[0], citations });
    }
    progress.end();
    const report = reportOf(namespace, mode ?? 'hybrid', model, asked);
    terminal.result(report, textOf(report));
    return 'ok';
  },
});

async function chatModel(client: Client, signal: AbortSignal): Promise<string> {
  return findChatModel(await askModels(client, signal))?.id ?? 'default';
}

async function citationsOf(client: Client, model: string, namespace: string, content: string): Promise<Place[]> {
  const body = { model, temperature: 0, knowledge: [namespace], messages: [{ role: 'user', content }] };
  const { citations = [] } = await client.call('POST /v1/chat/completions', { body });
  return citations.map(({ source, page }) => ({ source, page }));
}

function reportOf(namespace: string, mode: string, model: string | undefined, asked: readonly Asked[]) {
  const answerable = asked.flatMap((each) => (each.ranked === undefined ? [] : [{ ...each, ranked: each.ranked }]));
  const unanswerable = asked.filter(({ ranked }) => ranked === undefined);
  const within = (rank: number) => share(answerable, ({ ranked }) => (ranked.firstRank ?? Number.POSITIVE_INFINITY) <= rank);
  return {
    namespace,
    mode,
    questions: asked.length,
    answerable: answerable.length,
    unanswerable: unanswerable.length,
    hit_rate: { at_1: within(1), at_4: within(4), at_10: within(10) },
    mrr: mean(answerable, ({ ranked }) => (ranked.firstRank === undefined ? 0 : 1 / ranked.firstRank)),
    ndcg_at_10: mean(answerable, ({ ranked }) => ranked.ndcgAt10),
    recall_at_100: mean(answerable, ({ ranked }) => ranked.recallAt100),
    refused: share(unanswerable, ({ isAnswerable }) => !isAnswerable),
    wrongly_refused: share(answerable, ({ isAnswerable }) => !isAnswerable),
    ...(model === undefined ? {} : { answers: { model, ...citationReport(answerable, unanswerable) } }),
    missed: answerable
      .filter(({ ranked }) => (ranked.firstRank ?? Number.POSITIVE_INFINITY) > 4)
      .slice(0, MOST_SHOWN)
      .map(({ question, ranked, best }) => ({
        question: question.question,
        wanted: question.sources,
        rank: ranked.firstRank ?? null,
        first: best?.source ?? null,
      })),
  };
}

type Report = ReturnType<typeof reportOf>;

function citationReport(answerable: readonly Asked[], unanswerable: readonly Asked[]) {
  const given = answerable.flatMap(({ question, citations = [] }) => citations.map((each) => isWanted(each, question)));
  const isCited = ({ question, citations = [] }: Asked) => citations.some((each) => isWanted(each, question));
  return {
    citations: given.length,
    citation_precision: share(given, (isRight) => isRight),
    cited_rightly: share(answerable, isCited),
    uncited_when_unanswerable: share(unanswerable, ({ citations = [] }) => citations.length === 0),
  };
}

/** Null where there is nothing to count. */
function share<T>(list: readonly T[], isCounted: (each: T) => boolean): number | null {
  return mean(list, (each) => (isCounted(each) ? 1 : 0));
}

function mean<T>(list: readonly T[], measure: (each: T) => number): number | null {
  if (list.length === 0) return null;
  return Math.round((list.reduce((sum, each) => sum + measure(each), 0) / list.length) * 10_000) / 10_000;
}

function textOf(report: Report): string {
  const shown = (value: number | null) => (value === null ? '-' : value.toFixed(3));
  const { hit_rate: hits, answers } = report;
  const rows = [
    ['questions', `${report.questions} (${report.unanswerable} unanswerable)`],
    ['right one first, in 4, in 10', [hits.at_1, hits.at_4, hits.at_10].map(shown).join(', ')],
    ['MRR', shown(report.mrr)],
    ['nDCG@10', shown(report.ndcg_at_10)],
    ['recall@100', shown(report.recall_at_100)],
    ['unanswerable, refused', shown(report.refused)],
    ['answerable, refused', shown(report.wrongly_refused)],
    ...(answers === undefined
      ? []
      : [
          ['citations that are right', `${shown(answers.citation_precision)} of ${answers.citations}`],
          ['answers with a right citation', shown(answers.cited_rightly)],
          ['unanswerable, nothing cited', shown(answers.uncited_when_unanswerable)],
        ]),
  ];
  const missed = report.missed.map(({ question, rank, wanted }) => {
    return `  not in the first 4 (${rank ?? 'not found'}): ${printable(question)} -> ${printable(wanted.join(', '))}`;
  });
  return [formatTable([report.namespace, report.mode], rows), ...missed].join('\n');
}
