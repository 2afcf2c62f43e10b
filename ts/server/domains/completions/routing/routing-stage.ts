/** Chats that leave the choice of the model or of a knowledge base to the node: `model: "auto"`, `knowledge: ["auto"]`. */
import { randomUUID } from 'node:crypto';
import Type, { type Static } from 'typebox';
import type { FinishReason } from '../../../native/llama-shapes.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { InferenceService, ModelCard } from '../../inference/index.ts';
import type { ChosenRoute, MemoryApi } from '../../memory/index.ts';
import type { Answer } from '../answer/answer-collector.ts';
import type { Frames, StreamEncoder } from '../answer/frames.ts';
import { PassingEncoder } from '../answer/passing-encoder.ts';
import { AUTO, type ModelledAnswer, type PendingAnswer, type Stage } from '../answer/pending-answer.ts';
import { userTurns } from '../knowledge/knowledge-messages.ts';
import type { KnowledgeModule } from '../knowledge/knowledge-stage.ts';
import { promptMessages } from '../prompt-messages.ts';

/** The module of memories, whose `api` throws while it does not run. */
interface MemoryModule {
  readonly isRunning: boolean;
  readonly api: Pick<MemoryApi, 'router'>;
}

interface RoutingDeps {
  readonly memory: MemoryModule;
  readonly knowledge: KnowledgeModule;
  readonly inference: Pick<InferenceService, 'models' | 'defaultModel'>;
}

/** A conversation is followed over so many turns of the person. */
const MOST_TURNS = 8;

export class RoutingStage implements Stage {
  readonly members = ['auto'] as const;
  readonly #deps: RoutingDeps;

  constructor(deps: RoutingDeps) {
    this.#deps = deps;
  }

  async prepare(answer: PendingAnswer): Promise<void> {
    const { conversation } = answer.call;
    // A choice is judged by what became of its answer.
    if (conversation !== undefined && conversation.answer.id === undefined)
      answer.call = { ...answer.call, conversation: { ...conversation, answer: { ...conversation.answer, id: randomUUID() } } };
    if (answer.call.knowledge?.isAuto === true) await this.#chooseBase(answer);
    if (answer.request.model === AUTO) await this.#chooseModel(answer);
  }

  async fit({ routes, call: { conversation }, asker }: ModelledAnswer): Promise<void> {
    const place = conversation === undefined ? {} : { conversationId: conversation.id, messageId: conversation.answer.id ?? '' };
    for (const route of [routes?.knowledge, routes?.model])
      if (route?.made !== undefined) this.#deps.memory.api.router.keep(asker.caller, route.made, place);
  }

  wrap(inner: StreamEncoder, answer: ModelledAnswer): StreamEncoder {
    return answer.routes?.knowledge?.made === undefined ? inner : new JudgingEncoder(inner, () => this.#judge(answer));
  }

  finish(whole: Answer, answer: ModelledAnswer): Answer {
    this.#judge(answer);
    return whole;
  }

  /** A base of that name is asked as it always was. */
  async #chooseBase(answer: PendingAnswer): Promise<void> {
    const { asker, call } = answer;
    const { knowledge } = call;
    if (knowledge === undefined) return;
    const turns = userTurns(knowledge.messages).slice(-MOST_TURNS);
    const { names, cosines } = await this.#deps.knowledge.api.answers.nearness(asker.caller, turns, asker.options.signal);
    const isOwn = names.includes(AUTO);
    const open = names.map((name) => !knowledge.namespaces.includes(name));
    const of = <T>(row: readonly T[]): T[] => row.filter((_, i) => open[i]);
    const made =
      isOwn || !open.includes(true)
        ? undefined
        : await this.#deps.memory.api.router.choose(asker.caller, {
            kind: 'knowledge',
            routes: of(names),
            cosines: cosines.map(of),
            signal: asker.options.signal,
          });
    const chosen = isOwn ? [AUTO] : made === undefined ? [] : [made.chosen];
    answer.call = { ...call, knowledge: { ...knowledge, namespaces: [...knowledge.namespaces, ...chosen] } };
    if (!isOwn) answer.routes = { ...answer.routes, knowledge: { made, mode: this.#deps.memory.api.router.mode } };
  }

  /** A model of that name answers as it always did. Models that run elsewhere cost money and see what they are sent: they are asked by name alone. */
  async #chooseModel(answer: PendingAnswer): Promise<void> {
    const { memory, inference } = this.#deps;
    const { asker, request } = answer;
    const cards = await inference.models(asker.modelUser ?? asker.caller);
    if (cards.some(({ id }) => id === AUTO) || !memory.isRunning) return;
    const able = cards.filter((card) => card.backend === undefined && canAnswer(card, request));
    const routes = [...new Set(able.map(({ id }) => id))].sort((a, b) => rank(a, inference) - rank(b, inference));
    if (routes.length === 0) return;
    const turns = () => saidTurns(answer).slice(-MOST_TURNS);
    const made = await memory.api.router.choose(asker.caller, { kind: 'model', routes, turns, signal: asker.options.signal });
    answer.request = { ...answer.request, model: made.chosen };
    answer.routes = { ...answer.routes, model: { made, mode: memory.api.router.mode } };
  }

  /** Passages that were found, of which the answer cites none that holds, were of the wrong base. */
  #judge({ routes, knowledge, filters, asker }: ModelledAnswer): void {
    const made = routes?.knowledge?.made;
    if (made === undefined || knowledge === undefined || filters === undefined || knowledge.found.length === 0) return;
    const { citations } = filters.citedBy(0);
    this.#deps.memory.api.router.end(asker.caller, made, citations.length > 0 ? 'held' : 'unheld');
  }
}

/** Empty where it is too much to be read: the answer does not fail of it. */
function saidTurns(answer: PendingAnswer): string[] {
  const { call, request } = answer;
  const { prompt } = request.job;
  if (call.knowledge !== undefined) return userTurns(call.knowledge.messages);
  if (prompt.kind !== 'chat') return [];
  try {
    const messages = promptMessages(prompt.messagesJson, 'for a model that is chosen');
    // Queued bytes are taken once, so what was read stands in their place.
    answer.request = { ...request, job: { ...request.job, prompt: { ...prompt, messagesJson: JSON.stringify(messages) } } };
    return userTurns(messages);
  } catch (error) {
    if (error instanceof DomainError) return [];
    throw error;
  }
}

/** Looks at an answer that streams when it has ended. */
class JudgingEncoder extends PassingEncoder {
  readonly #judge: () => void;

  constructor(inner: StreamEncoder, judge: () => void) {
    super(inner);
    this.#judge = judge;
  }

  override finish(out: Frames, choice: number, reason: FinishReason, stopString: string): void {
    this.inner.finish(out, choice, reason, stopString);
    if (choice === 0) this.#judge();
  }
}

function canAnswer({ capabilities, state }: ModelCard, request: PendingAnswer['request']): boolean {
  if (state === 'unusable' || state === 'inspecting' || !capabilities.chat) return false;
  if (request.needsTools && !capabilities.tools) return false;
  return (!request.needsVision || capabilities.vision) && (!request.needsAudio || capabilities.audio);
}

/** The default model first, the others in their own order. */
function rank(id: string, { defaultModel }: Pick<InferenceService, 'defaultModel'>): number {
  return id === defaultModel ? 0 : 1;
}

/** The choice that was made for an answer; undefined: there is nothing to choose. */
export interface AnswerRoute {
  readonly made: ChosenRoute | undefined;
  readonly mode: MemoryApi['router']['mode'];
}

export const routeShapes = {
  knowledge_route: Type.Optional(
    Type.Object(
      {
        chosen: Type.Union([Type.String(), Type.Null()], { description: 'null: there is no knowledge base to choose.' }),
        scores: Type.Record(Type.String(), Type.Number(), { description: 'Of each base; all together are 1.' }),
        mode: Type.Enum(['off', 'shadow', 'on'], { description: 'The setting `memory.router`.' }),
      },
      { description: 'For `knowledge: ["auto"]`: the knowledge base that was chosen.' },
    ),
  ),
};

const Shapes = Type.Object(routeShapes);

export function routeMember(route: AnswerRoute | undefined): Static<typeof Shapes> {
  if (route === undefined) return {};
  const { made, mode } = route;
  if (made === undefined) return { knowledge_route: { chosen: null, scores: {}, mode } };
  const scores = Object.fromEntries(made.routes.map((name, i) => [name, Math.round((made.scores[i] ?? 0) * 10_000) / 10_000]));
  return { knowledge_route: { chosen: made.chosen, scores, mode } };
}
