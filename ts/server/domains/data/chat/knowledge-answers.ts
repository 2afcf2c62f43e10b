/** Chats over knowledge bases: finds passages for the question before the model answers, and checks what the answer cites. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { hasScope, type Principal } from '../../../platform/http/principal.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import { uploaderOf } from '../../files/index.ts';
import { MAX_QUESTION, type Question, termsOf } from '../../retrieval/index.ts';
import { namespaceNotFound } from '../errors.ts';
import { readQuestion } from '../evidence/asked-question.ts';
import { meritsOf, type ReadPassage, readPassages } from '../evidence/read-passages.ts';
import { relevanceOf, withoutUnrelated } from '../evidence/relevance.ts';
import { isSmallTalk } from '../evidence/small-talk.ts';
import type { KnowledgeAccess } from '../knowledge-access.ts';
import type { DocumentFilter, KnowledgeBase, PassageResult } from '../knowledge-base.ts';
import type {
  ConversationFilesPlace,
  InputFile,
  InputFileText,
  KnowledgeContext,
  KnowledgePort,
  KnowledgeQuestion,
  NearBases,
  SearchBounds,
  UsedKnowledge,
} from '../knowledge-context.ts';
import type { KnowledgeService } from '../service.ts';
import type { OwnedBaseStore } from '../store/owned-base-store.ts';
import type { Sweep } from '../sweep.ts';
import { readAttributeFilter } from '../vector-stores/attribute-filter.ts';
import { readRanking } from '../vector-stores/ranking-options.ts';
import { sureResults } from '../vector-stores/sure-results.ts';
import type { BaseNearness } from './base-nearness.ts';
import { ConsultedPassages } from './consulted-passages.ts';
import type { InputFiles } from './input-files.ts';
import { type AnswersSetting, Speaker } from './speaker.ts';

/** Of each base, whose sentences may be quoted. In a base of a single topic the right one is rarely among the first. */
const PASSAGES_FOR_EVIDENCE = 12;
/** Of files that are kept without an index, for the model and the client. */
const MOST_KEPT_SHOWN = 10;
const LIST_QUESTION =
  /\b(?:all|every|each|list|which ones|alle|allen|jede[rsnm]?|liste|tous|toutes|todos|todas|tutti|tutte)\b|все[хм]?(?!\p{L})|кажд|所有|全部|列出|哪些|すべて|全て|모든/iu;

interface KnowledgeAnswersOptions {
  readonly service: Pick<KnowledgeService, 'searchBases' | 'findBase' | 'listKept'>;
  readonly ownedBases: Pick<OwnedBaseStore, 'find'>;
  readonly sweep: Pick<Sweep, 'eraseConversations'>;
  readonly access: Pick<KnowledgeAccess, 'filterOf' | 'ownScope' | 'requireSearching'>;
  readonly inputFiles: InputFiles;
  readonly nearness: Pick<BaseNearness, 'of'>;
  /** The setting data.answers. */
  readonly answers: AnswersSetting;
}

export class KnowledgeAnswers implements KnowledgePort {
  readonly #options: KnowledgeAnswersOptions;

  constructor(options: KnowledgeAnswersOptions) {
    this.#options = options;
  }

  async consult(caller: Principal, question: KnowledgeQuestion, signal: AbortSignal): Promise<KnowledgeContext> {
    const { scope, bounds, ...opened } = await this.#open(caller, question);
    const own = question.files && (await this.#ownBase(caller, question.files));
    const bases = own === undefined ? opened.bases : [...opened.bases, own];
    const text = questionOf(question.turns);
    const asked = readQuestion(text);
    const isAside = text === '' || isSmallTalk(asked);
    const [found, kept] = await Promise.all([
      isAside ? [] : this.#find(scope, bases, bounds, { text, signal }),
      this.#options.service.listKept(scope, bases, MOST_KEPT_SHOWN),
    ]);
    const { keepsForm, offersTools, fallback = 'none' } = question;
    const passages = await readPassages(asked, found);
    const relevance = isAside ? 'aside' : relevanceOf(asked, passages);
    const isOfMany = bases.length > 1;
    const related = relevance === 'nothing' ? [] : byValue(withoutUnrelated(passages), isOfMany);
    return new ConsultedPassages({
      tenant: caller.tenant,
      question: asked,
      relevance,
      isList: question.bounds?.maxResults !== undefined || LIST_QUESTION.test(text),
      passages: boundedPassages(related, isOfMany, bounds),
      kept,
      files: question.files && own && { ...question.files, namespace: own.namespace },
      speaker: new Speaker(this.#options.answers, fallback),
      keepsForm,
      offersTools,
    });
  }

  async nearness(caller: Principal, turns: readonly string[], signal: AbortSignal): Promise<NearBases> {
    requireReading(caller, '`knowledge`');
    const { access, nearness } = this.#options;
    access.requireSearching();
    return await nearness.of(caller, access.ownScope(caller, caller.tenant), turns.map(cut), signal);
  }

  async holdsFiles(caller: Principal, place: ConversationFilesPlace): Promise<boolean> {
    return (await this.#ownBase(caller, place)) !== undefined;
  }

  /** Undefined: the conversation has no file any more, or the credential names the knowledge bases that it is for. */
  async #ownBase(caller: Principal, { key }: ConversationFilesPlace): Promise<KnowledgeBase | undefined> {
    if (caller.limits?.['namespaces'] !== undefined) return undefined;
    return await this.#options.ownedBases.find(uploaderOf(caller), key);
  }

  async eraseFiles(keys: readonly string[]): Promise<void> {
    await this.#options.sweep.eraseConversations(keys);
  }

  async admit(caller: Principal, question: Pick<KnowledgeQuestion, 'namespaces' | 'bounds'>): Promise<void> {
    await this.#open(caller, question);
  }

  async reaches(caller: Principal, { namespaces, files }: UsedKnowledge): Promise<boolean> {
    const { service, access, inputFiles } = this.#options;
    const scope = access.ownScope(caller, caller.tenant);
    const isAllowed = await access.filterOf(caller);
    for (const name of new Set(namespaces)) {
      const base = await service.findBase(scope, name);
      if (base === undefined || !isAllowed(base.namespace)) return false;
    }
    for (const id of new Set(files)) if (!(await inputFiles.reaches(caller, id))) return false;
    return true;
  }

  async readFile(caller: Principal, file: InputFile, signal: AbortSignal): Promise<InputFileText> {
    requireReading(caller, 'input_file');
    return await this.#options.inputFiles.read(caller, file, signal);
  }

  async #open(caller: Principal, { namespaces, bounds }: Pick<KnowledgeQuestion, 'namespaces' | 'bounds'>) {
    // Files of a conversation need what the conversation needs.
    if (namespaces.length > 0) requireReading(caller, '`knowledge`');
    const { service, access } = this.#options;
    const scope = access.ownScope(caller, caller.tenant);
    const isAllowed = await access.filterOf(caller);
    const bases: KnowledgeBase[] = [];
    for (const name of namespaces) {
      const base = await service.findBase(scope, name);
      if (base === undefined || !isAllowed(base.namespace)) throw namespaceNotFound(name);
      if (!bases.some(({ no }) => no === base.no)) bases.push(base);
    }
    access.requireSearching();
    return { scope, bases, bounds: readBounds(bounds) };
  }

  async #find(
    scope: TenantScope,
    bases: readonly KnowledgeBase[],
    { maxResults, leastScore: _, ...ranking }: Bounds,
    { text, signal }: Pick<Question, 'text' | 'signal'>,
  ): Promise<PassageResult[]> {
    const k = maxResults ?? PASSAGES_FOR_EVIDENCE;
    const search = (base: KnowledgeBase) => this.#options.service.searchBases(scope, [base], { text, k, signal, ...ranking });
    const found = await Promise.all(bases.map(search));
    // The best of each base come first: scores say nothing between searches.
    return Array.from({ length: k }, (_, rank) => found.flatMap((results) => results[rank] ?? [])).flat();
  }
}

/** Scores say nothing between searches: across bases, passages are ordered by what they have of the question as well. */
function byValue(passages: readonly ReadPassage[], isOfMany: boolean): readonly ReadPassage[] {
  if (!isOfMany) return passages;
  const merits = meritsOf(passages);
  const order = passages.map((passage, i) => ({ passage, merit: merits[i] ?? 0 }));
  return order.sort((a, b) => b.merit - a.merit).map(({ passage }) => passage);
}

function boundedPassages(
  passages: readonly ReadPassage[],
  isOfMany: boolean,
  { maxResults, leastScore }: Bounds,
): readonly ReadPassage[] {
  if (maxResults === undefined && leastScore === 0) return passages;
  const best = isOfMany ? passages.toSorted((a, b) => b.result.relevance - a.result.relevance) : passages;
  const bounded = best.slice(0, maxResults);
  const sure = sureResults(
    bounded.map(({ result }) => result),
    leastScore,
  );
  return sure.map((result, i) => ({ result, coverage: bounded[i]?.coverage ?? 0 }));
}

interface Bounds extends Pick<Question<DocumentFilter>, 'filter' | 'denseWeight' | 'isRanked'> {
  readonly maxResults: number | undefined;
  readonly leastScore: number;
}

function readBounds({ maxResults, filters, rankingOptions }: SearchBounds = {}): Bounds {
  const isFiltered = filters !== undefined && filters !== null;
  return {
    maxResults,
    ...(isFiltered ? { filter: { attributes: readAttributeFilter(filters) } } : {}),
    ...readRanking(rankingOptions),
  };
}

/** Without a credential nobody gets here once there are accounts. */
function requireReading(caller: Principal, what: string): void {
  if (caller.kind === 'anonymous' || hasScope(caller, 'knowledge:read')) return;
  throw new DomainError('insufficient_scope', `The credential lacks the scope knowledge:read, which ${what} needs.`, {
    extra: { scope: 'knowledge:read' },
  });
}

/** A shorter question (`And in 2020?`) is about what was said before. */
const LEAST_WORDS = 4;

/** What a chat asks its knowledge bases: the last turn, with the one before where it is too short to be asked alone. */
export function questionOf(turns: readonly string[]): string {
  const [before = '', last = ''] = turns.length > 1 ? turns.slice(-2).map(cut) : ['', cut(turns[0] ?? '')];
  const nWords = [...termsOf(last)].filter(({ kind }) => kind === 'stem').length;
  return cut(nWords < LEAST_WORDS ? `${before} ${last}` : last).trim();
}

function cut(turn: string): string {
  return turn.slice(0, MAX_QUESTION).toWellFormed();
}
