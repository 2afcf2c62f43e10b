/** `svc memory eval`: how well your memories are recalled. */
import { formatTable, printable } from '../format.ts';
import { type MemoryQuestion, readMemoryQuestions } from '../knowledge/question-file.ts';
import { serverCommand } from '../server-command.ts';

/** A question with its outcome. */
interface Asked extends MemoryQuestion {
  /** Texts that a chat would recall, the best first. */
  readonly recalled: readonly string[];
  /** Rank of the first right one, from 1; undefined: none was recalled. */
  readonly rank: number | undefined;
}

const MOST_SHOWN = 20;

export const memoryEval = serverCommand({
  words: ['memory', 'eval'],
  summary: 'Measure how well your memories are recalled for a file of your own questions',
  positionals: [
    { name: 'FILE', help: 'questions as JSON: question with memories (texts, parts of them, or ids), or with never_said: true' },
  ],
  examples: ['svc memory eval questions.json', 'svc memory eval --json questions.jsonl'],
  async run({ positionals: [path = ''], client, terminal }) {
    const questions = await readMemoryQuestions(path);
    const progress = terminal.progress();
    const asked: Asked[] = [];
    for (const [i, question] of questions.entries()) {
      progress.update('asking', i, questions.length);
      const body = { query: question.question, recall: true };
      const { data } = await client.call('POST /api/v1/memory/memories/search', { body });
      const rank = 1 + data.findIndex((memory) => question.memories.some((wanted) => isWanted(memory, wanted)));
      asked.push({ ...question, recalled: data.map(({ text }) => text), rank: rank === 0 ? undefined : rank });
    }
    progress.end();
    const report = reportOf(asked);
    terminal.result(report, textOf(report));
    return 'ok';
  },
});

function isWanted({ id, text }: { readonly id: string; readonly text: string }, wanted: string): boolean {
  return id === wanted || text.toLowerCase().includes(wanted.trim().toLowerCase());
}

function reportOf(asked: readonly Asked[]) {
  const said = asked.filter(({ memories }) => memories.length > 0);
  const neverSaid = asked.filter(({ memories }) => memories.length === 0);
  const within = (most = Number.POSITIVE_INFINITY) => share(said, ({ rank }) => rank !== undefined && rank <= most);
  return {
    questions: asked.length,
    said: said.length,
    never_said: neverSaid.length,
    hit_rate: { at_1: within(1), at_5: within(5), recalled: within() },
    silent: share(neverSaid, ({ recalled }) => recalled.length === 0),
    wrongly_silent: share(said, ({ recalled }) => recalled.length === 0),
    missed: said
      .filter(({ rank }) => rank === undefined)
      .slice(0, MOST_SHOWN)
      .map(({ question, memories, recalled: [first] }) => ({ question, wanted: memories, first: first ?? null })),
    recalled_though_never_said: neverSaid
      .flatMap(({ question, recalled: [first] }) => (first === undefined ? [] : [{ question, first }]))
      .slice(0, MOST_SHOWN),
  };
}

type Report = ReturnType<typeof reportOf>;

/** Null where there is nothing to count. */
function share<T>(list: readonly T[], isCounted: (each: T) => boolean): number | null {
  return list.length === 0 ? null : Math.round((list.filter(isCounted).length / list.length) * 10_000) / 10_000;
}

function textOf({ questions, never_said: nNeverSaid, hit_rate: hits, ...report }: Report): string {
  const shown = (value: number | null) => (value === null ? '-' : value.toFixed(3));
  const rows = [
    ['questions', `${questions} (${nNeverSaid} never said)`],
    ['right one first, in 5, recalled', [hits.at_1, hits.at_5, hits.recalled].map(shown).join(', ')],
    ['never said, nothing recalled', shown(report.silent)],
    ['said, nothing recalled', shown(report.wrongly_silent)],
  ];
  const missed = report.missed.map(({ question, wanted }) => `  not recalled: ${question} -> ${wanted.join(', ')}`);
  const wrong = report.recalled_though_never_said.map(({ question, first }) => `  never said: ${question} -> ${first}`);
  return [formatTable(['memories', 'recalled'], rows), ...[...missed, ...wrong].map(printable)].join('\n');
}
