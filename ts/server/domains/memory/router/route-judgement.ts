/** People show by what they do after an answer whether its route was right. Pure. */
import type { RouteChoice, RouteOutcome } from './route-store.ts';

/** A message of a conversation, as far as it says something of a route. */
export interface SaidAnswer {
  readonly id: string;
  readonly parentId: string | undefined;
  readonly role: string;
  readonly content: string;
  /** Milliseconds since 1970. */
  readonly ts: number;
  readonly model: string | undefined;
  readonly citations: readonly unknown[] | undefined;
}

interface Judgement {
  readonly outcome: RouteOutcome | undefined;
  readonly best: string | undefined;
  /** The answer is to this question; undefined: the answer is not there any more. */
  readonly question: string | undefined;
}

/** An answer that nobody had made again for so long was good enough. */
const RESTS_MS = 3_600_000;

/** @param messages of the conversation, in their order. */
export function judgedChoice(choice: RouteChoice, messages: readonly SaidAnswer[], now: number): Judgement {
  const { messageId, kind, chosen, outcome, best } = choice;
  const at = messages.findIndex(({ id }) => id === messageId);
  const answer = messages[at];
  if (answer === undefined) return { outcome, best, question: undefined };
  const question = messages.find(({ id }) => id === answer.parentId)?.content;
  const again = messages
    .slice(at + 1)
    .findLast(({ role, parentId }) => role === 'assistant' && parentId !== undefined && parentId === answer.parentId);
  const other = again && (kind === 'model' ? again.model : citedBase(again));
  if (other !== undefined && other !== chosen) return { outcome: 'changed', best: other, question };
  if (outcome !== undefined) return { outcome, best, question };
  if (kind === 'knowledge') {
    const cited = citedBase(answer);
    return cited === chosen ? { outcome: 'held', best: chosen, question } : { outcome, best, question };
  }
  const goesOn = messages.some(({ parentId }) => parentId === answer.id);
  if (goesOn || now - answer.ts > RESTS_MS) return { outcome: 'held', best: chosen, question };
  return { outcome, best, question };
}

/** The one knowledge base that an answer cites; undefined: none, or several. */
function citedBase({ citations = [] }: SaidAnswer): string | undefined {
  const bases = new Set(
    citations.map((citation) =>
      typeof citation === 'object' && citation !== null && 'namespace' in citation ? citation.namespace : undefined,
    ),
  );
  const [base] = bases;
  return bases.size === 1 && typeof base === 'string' ? base : undefined;
}
