/** Answers from knowledge bases and from the files of a conversation: their passages go to the model, and what the answer cites is checked. */
import type { ConversationFilesPlace, KnowledgeContext, KnowledgePort } from '../../data/index.ts';
import type { ChatPrompt, CompletionRequest, InferenceService } from '../../inference/index.ts';
import type { Answer } from '../answer/answer-collector.ts';
import type { StreamEncoder } from '../answer/frames.ts';
import type { KnowledgeCall, ModelledAnswer, PendingAnswer, Stage } from '../answer/pending-answer.ts';
import type { Members } from '../compat/members.ts';
import { promptMessages } from '../prompt-messages.ts';
import { AnswerFilters } from './answer-filters.ts';
import { FilteringEncoder } from './filtering-encoder.ts';
import { userTurns, withKnowledge } from './knowledge-messages.ts';

/** The module of knowledge bases, whose `api` throws while it does not run. */
export interface KnowledgeModule {
  readonly api: { readonly answers: KnowledgePort };
}

/** Tokens that are left for an answer whose request names no limit, or a larger one; a small context is shared. */
const ANSWER_TOKENS = 1_024;
const ANSWER_SHARE = 0.25;
/** What counting the parts of a prompt one by one may miss of it. */
const SLACK_TOKENS = 16;
/** Where nobody knows how much a model takes. */
const UNKNOWN_CONTEXT = 4_096;

export class KnowledgeStage implements Stage {
  readonly members = ['knowledge', 'conversation'] as const;
  readonly #module: KnowledgeModule;
  readonly #inference: Pick<InferenceService, 'meter'>;

  constructor(module: KnowledgeModule, inference: Pick<InferenceService, 'meter'>) {
    this.#module = module;
    this.#inference = inference;
  }

  async prepare(answer: PendingAnswer): Promise<void> {
    const { call, asker, request } = answer;
    const files = await this.#filesOf(answer);
    const { prompt, jsonSchema, grammar } = request.job;
    if (prompt.kind !== 'chat' || (call.knowledge === undefined && files === undefined)) return;
    const { namespaces, bounds, messages, fallback } = call.knowledge ?? filesAlone(prompt);
    const isContinued = (call.conversation?.answer.prefix ?? '') !== '';
    const keepsForm = jsonSchema !== undefined || grammar !== undefined || isContinued;
    const about = { namespaces, files, turns: userTurns(messages), bounds, fallback };
    const question = { ...about, keepsForm, offersTools: request.needsTools };
    answer.knowledge = await this.#module.api.answers.consult(asker.caller, question, asker.options.signal);
    answer.asked = messages;
  }

  /** The question, what was said before it and a share for the answer come first; passages get what is left of the model's context. */
  async fit(answer: ModelledAnswer): Promise<void> {
    const { asked: messages, request, model, asker } = answer;
    const knowledge = request.toolsIgnored === undefined ? answer.knowledge : answer.knowledge?.withoutTools();
    const { prompt, media, maxTokens = ANSWER_TOKENS } = request.job;
    if (knowledge === undefined || messages === undefined || prompt.kind !== 'chat') return;
    let fitted = knowledge;
    if (knowledge.passages !== '' && !knowledge.silences(model.card)) {
      const meter = this.#inference.meter(model, asker.options);
      const nContext = (await meter.contextTokens()) ?? UNKNOWN_CONTEXT;
      const bare = { instruction: knowledge.instruction, passages: '', ownWords: knowledge.ownWords };
      const nPrompt = await meter.countPrompt({ ...prompt, messagesJson: JSON.stringify(withKnowledge(messages, bare)) }, media);
      const nAnswer = Math.min(maxTokens, ANSWER_TOKENS, Math.floor(ANSWER_SHARE * nContext));
      const nTokens = nContext - nPrompt - nAnswer - SLACK_TOKENS;
      fitted = await knowledge.fit({ nTokens, count: (text) => meter.countText(text) });
    }
    answer.knowledge = fitted;
    answer.filters = new AnswerFilters(fitted);
    answer.request = withPassages(request, prompt, messages, fitted);
  }

  wrap(inner: StreamEncoder, { filters }: PendingAnswer): StreamEncoder {
    return filters === undefined ? inner : new FilteringEncoder(inner, filters);
  }

  finish(whole: Answer, { filters }: PendingAnswer): Answer {
    if (filters === undefined) return whole;
    return { ...whole, choices: whole.choices.map((choice, i) => ({ ...choice, content: filters.wholeText(i, choice) })) };
  }

  /** Undefined: the conversation has none, or none any more. */
  async #filesOf({ call, conversation, asker }: PendingAnswer): Promise<ConversationFilesPlace | undefined> {
    const key = conversation?.filesKey;
    if (key === undefined || call.conversation === undefined) return undefined;
    const place = { conversationId: call.conversation.id, key };
    return (await this.#module.api.answers.holdsFiles(asker.caller, place)) ? place : undefined;
  }
}

/** A conversation with files is a conversation: what they say nothing of, the model answers. */
function filesAlone({ messagesJson }: ChatPrompt): KnowledgeCall {
  return { namespaces: [], messages: promptMessages(messagesJson, 'in a conversation with files'), fallback: 'model' };
}

function withPassages(
  { job, ...request }: CompletionRequest,
  prompt: ChatPrompt,
  messages: readonly Members[],
  knowledge: KnowledgeContext,
): CompletionRequest {
  const messagesJson = JSON.stringify(withKnowledge(messages, knowledge));
  return { ...request, isSilenced: (card) => knowledge.silences(card), job: { ...job, prompt: { ...prompt, messagesJson } } };
}
