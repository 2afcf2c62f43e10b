/** Jobs that judge the choices of a tenant by what people did, learn from them, and keep what was learned in the tenant's memory file. */
import Type from 'typebox';
import type { LearnedKinds } from '../../../../workers/route-model.ts';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { Job, JobContext, JobQueue, Jobs } from '../../../platform/jobs/index.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { Embedders } from '../../retrieval/index.ts';
import { DEFAULT_THRESHOLD, scoresOf } from './floor.ts';
import type { LearnedFiles } from './learned-files.ts';
import type { LearnedRoutes } from './learned-routes.ts';
import { judgedChoice, type SaidAnswer } from './route-judgement.ts';
import { cosinesTo, type ModelQuestion, meansOf } from './route-means.ts';
import type { LearnedRouting, RoutedConversation } from './route-network.ts';
import type { RouteChoice, RouteKind, RouteStore } from './route-store.ts';

/** Whoever has the conversations. */
export interface AnswerConversations {
  /** Rejects for a conversation that is not there. */
  messages(
    owner: TenantScope & { readonly subject: string },
    conversationId: string,
    range: { readonly after: number; readonly limit: number },
  ): Promise<{ readonly messages: readonly (SaidAnswer & { readonly seq: number })[]; readonly isWhole: boolean }>;
}

interface RouteLearningOptions {
  readonly jobs: Jobs;
  readonly store: RouteStore;
  readonly files: LearnedFiles;
  readonly embedders: Pick<Embedders, 'choose' | 'embed'>;
  readonly log: Log;
  readonly onRegret: (kind: RouteKind) => void;
  readonly now: () => number;
}

const Input = Type.Object({});
type LearningJob = JobContext<object, unknown>;

/** The newest choices are learned from. */
const MOST_CHOICES = 20_000;
const MOST_MESSAGES = 2_000;
const PAGE = 200;
const KEPT_MS = 90 * 86_400_000;
const EMBEDDED_AT_ONCE = 64;

export class RouteLearning {
  readonly #options: RouteLearningOptions;
  readonly #queue: JobQueue<object>;
  #conversations: AnswerConversations | undefined;

  constructor(options: RouteLearningOptions) {
    this.#options = options;
    this.#queue = options.jobs.define({
      name: 'memory.router',
      input: Input,
      concurrency: 1,
      // The file lies on this node alone.
      isOfNode: true,
      run: (job) => this.#run(job),
    });
  }

  connect(conversations: AnswerConversations): void {
    this.#conversations = conversations;
  }

  start(): void {
    this.#queue.start();
  }

  async stop(): Promise<void> {
    await this.#queue.stop();
  }

  /** The job that runs already, where one does. */
  async begin(caller: Principal): Promise<Job> {
    const owner = caller.subject;
    return await this.#queue.enqueue(scopeOf(caller), {}, { key: 'router', ...(owner !== undefined && { owner }) });
  }

  async #run({ scope, signal }: LearningJob): Promise<object> {
    const { store, files, now } = this.#options;
    await store.removeOlder(scope, now() - KEPT_MS);
    const questions = new Map<string, string>();
    const choices = await this.#judged(scope, await store.list(scope, { limit: MOST_CHOICES }), questions, signal);
    const ofKind = (wanted: RouteKind) => choices.filter(({ kind }) => kind === wanted);
    const bases = await files.learn(
      conversationsOf(ofKind('knowledge')).map((each) => alignedTurns(each)),
      signal,
    );
    const models = await this.#ofModels(scope, ofKind('model'), questions, signal);
    const learned: LearnedKinds = {
      ...(bases !== undefined && { knowledge: { ...routesOf(bases), learnedAt: now() } }),
      ...(models !== undefined && { model: { ...models, learnedAt: now() } }),
    };
    if (Object.keys(learned).length > 0) await files.write(scope, learned, now(), signal);
    const nKnown = choices.filter(({ outcome }) => outcome !== undefined).length;
    return {
      decisions: choices.length,
      judged: nKnown,
      knowledge: figuresOf(learned.knowledge),
      model: figuresOf(learned.model),
    };
  }

  /** Judges choices by what people did in their conversations. @param questions gets what was asked, by the ids of choices. */
  async #judged(
    scope: TenantScope,
    choices: readonly RouteChoice[],
    questions: Map<string, string>,
    signal: AbortSignal,
  ): Promise<RouteChoice[]> {
    const { store, onRegret, now } = this.#options;
    const judged: RouteChoice[] = [];
    const read = new Map<string, readonly SaidAnswer[]>();
    for (const choice of choices) {
      signal.throwIfAborted();
      const { owner, conversationId } = choice;
      if (conversationId === undefined) {
        judged.push(choice);
        continue;
      }
      const key = `${owner} ${conversationId}`;
      const messages = read.get(key) ?? (await this.#messages(scope, owner, conversationId));
      read.set(key, messages);
      const { outcome, best, question } = judgedChoice(choice, messages, now());
      if (question !== undefined) questions.set(choice.id, question);
      if (outcome !== undefined && (outcome !== choice.outcome || best !== choice.best)) {
        await store.end(scope, choice.id, outcome, best);
        if (outcome === 'changed' && choice.outcome !== 'changed') onRegret(choice.kind);
      }
      judged.push({ ...choice, outcome, best });
    }
    return judged;
  }

  /** Empty where the conversation is gone. */
  async #messages(scope: TenantScope, subject: string, id: string): Promise<SaidAnswer[]> {
    const said: SaidAnswer[] = [];
    try {
      for (let after = 0, isWhole = this.#conversations === undefined; !isWhole && said.length < MOST_MESSAGES; ) {
        const page = await this.#conversations?.messages({ ...scope, subject }, id, { after, limit: PAGE });
        said.push(...(page?.messages ?? []));
        after = page?.messages.at(-1)?.seq ?? after;
        isWhole = page?.isWhole ?? true;
      }
    } catch (error) {
      this.#options.log.debug('a conversation cannot be read for what its answers say of their routes', { error: String(error) });
    }
    return said;
  }

  /** Models are told apart by what each was asked and answered well. Undefined: too little is known. */
  async #ofModels(
    scope: TenantScope,
    choices: readonly RouteChoice[],
    questions: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<LearnedRoutes | undefined> {
    const asked = choices.filter(({ id, best }) => best !== undefined && questions.has(id));
    if (asked.length === 0) return undefined;
    const { embedders } = this.#options;
    const { model, source, prefixes } = await embedders.choose();
    const binding = { embeddingModel: model, embeddingSource: source, prefixes, dimensions: undefined };
    const options = { tenant: scope.tenant, signal, isBackground: true };
    const known: ModelQuestion[] = [];
    for (let at = 0; at < asked.length; at += EMBEDDED_AT_ONCE) {
      const some = asked.slice(at, at + EMBEDDED_AT_ONCE);
      const texts = some.map(({ id }) => questions.get(id) ?? '');
      const { vectors } = await embedders.embed(binding, 'query', texts, options);
      known.push(...some.flatMap(({ id, best = '' }, i) => (vectors[i] === undefined ? [] : [{ id, best, vector: vectors[i] }])));
    }
    const means = meansOf(known);
    if (Object.keys(means).length < 2) return undefined;
    const vectorOf = new Map(known.map(({ id, vector }) => [id, vector]));
    const conversations = conversationsOf(asked);
    // Means of the questions by which it is judged would know the answers.
    const nLearned = Math.floor(0.8 * conversations.length);
    const early = new Set(conversations.slice(0, nLearned).flatMap((each) => each.map(({ id }) => id)));
    const earlyMeans = meansOf(known.filter(({ id }) => early.has(id)));
    const turns = conversations.map((each) =>
      alignedTurns(
        each.map((choice) => {
          const vector = vectorOf.get(choice.id);
          return vector === undefined ? choice : { ...choice, scores: scoresOf(cosinesTo(earlyMeans, choice.routes, vector)) };
        }),
      ),
    );
    const routing = await this.#options.files.learn(turns, signal);
    const rest = { learnedAt: 0, embedding: { model, source, prefixes }, means };
    return routing === undefined ? { ...rest, threshold: DEFAULT_THRESHOLD } : { ...routesOf(routing), ...rest };
  }
}

/** The choices of each conversation in their order; the conversation whose last one is the oldest comes first. */
function conversationsOf(choices: readonly RouteChoice[]): RouteChoice[][] {
  const groups = new Map<string, RouteChoice[]>();
  for (const choice of choices) {
    const key = choice.conversationId === undefined ? choice.id : `${choice.owner} ${choice.conversationId}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [choice]);
    else group.push(choice);
  }
  return [...groups.values()].sort((a, b) => (a.at(-1)?.at ?? 0) - (b.at(-1)?.at ?? 0));
}

/** A route that came or went while the conversation lasted scores nothing in the other turns. */
function alignedTurns(choices: readonly RouteChoice[]): RoutedConversation {
  const routes = [...new Set(choices.flatMap((choice) => choice.routes))];
  return choices.map(({ routes: own, scores, best }) => ({
    scores: routes.map((route) => scores[own.indexOf(route)] ?? 0),
    right: best === undefined || !routes.includes(best) ? [] : [routes.indexOf(best)],
  }));
}

function routesOf({ threshold, network, later, random }: LearnedRouting): Omit<LearnedRoutes, 'learnedAt'> {
  return { threshold, network, later, random };
}

function figuresOf(learned: LearnedRoutes | undefined) {
  if (learned?.later === undefined || learned.random === undefined) return null;
  return { later: learned.later, random: learned.random };
}
