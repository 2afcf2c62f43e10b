/** Answers that are stored in a conversation of the caller, with their questions. */
import type { Answer } from '../answer/answer-collector.ts';
import type { StreamEncoder } from '../answer/frames.ts';
import type { ModelledAnswer, PendingAnswer, Stage } from '../answer/pending-answer.ts';
import { unindexedMember, wireCitations } from '../knowledge/citations.ts';
import type { ChatStorage } from './chat-storage.ts';
import { answerFacts } from './open-conversation.ts';
import { RecordingEncoder } from './recording-encoder.ts';

export class ConversationStage implements Stage {
  readonly members = ['conversation'] as const;
  readonly #storage: ChatStorage;

  constructor(storage: ChatStorage) {
    this.#storage = storage;
  }

  async prepare(pending: PendingAnswer): Promise<void> {
    const { call, asker } = pending;
    if (call.conversation === undefined) return;
    const { id, text, answer } = call.conversation;
    pending.conversation = await this.#storage.open(asker.caller, { id, text, answerId: answer.id, parentId: answer.parentId });
  }

  /** Puts the recording encoder outermost, so that what is stored is what the client reads. */
  wrap(inner: StreamEncoder, answer: ModelledAnswer): StreamEncoder {
    const { conversation, model } = answer;
    if (conversation === undefined) return inner;
    const stored = { conversation, model: model.card.id, prefix: prefixOf(answer), unindexed: unindexedOf(answer) };
    answer.recording = new RecordingEncoder(inner, { ...stored, citations: () => citationsOf(answer) });
    return answer.recording;
  }

  async finish(whole: Answer, answer: ModelledAnswer): Promise<Answer> {
    const first = whole.choices[0];
    await answer.conversation?.store({
      content: prefixOf(answer) + (first?.content ?? ''),
      model: answer.model.card.id,
      cutBy: undefined,
      facts: answerFacts({
        reasoning: first?.reasoning ?? '',
        toolCalls: first?.toolCalls ?? [],
        toolEvents: whole.toolEvents,
        finish: first?.finish,
        usage: whole.usage,
        unindexed: unindexedOf(answer),
      }),
      citations: citationsOf(answer),
    });
    return whole;
  }
}

function prefixOf({ call }: PendingAnswer): string {
  return call.conversation?.answer.prefix ?? '';
}

/** Returns the citations of the first choice, which is the one that is stored. */
function citationsOf({ filters }: PendingAnswer) {
  return filters && wireCitations(filters.citedBy(0)).citations;
}

function unindexedOf({ knowledge }: PendingAnswer): object | undefined {
  return knowledge && unindexedMember(knowledge.unindexed).unindexed;
}
