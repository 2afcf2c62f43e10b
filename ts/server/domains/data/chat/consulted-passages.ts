/** What was found for a question: what the model gets of it, and which of it an answer cites rightly. */
import type { ProbedModel } from '../../inference/index.ts';
import type { AskedQuestion } from '../evidence/asked-question.ts';
import { evidenceFor } from '../evidence/evidence.ts';
import { EvidenceFilter } from '../evidence/evidence-filter.ts';
import { type EvidenceText, withoutEvidence } from '../evidence/evidence-text.ts';
import type { ReadPassage } from '../evidence/read-passages.ts';
import type { Relevance } from '../evidence/relevance.ts';
import type { PassageResult } from '../knowledge-base.ts';
import type {
  AnswerFilter,
  CheckedCitations,
  Citation,
  ConversationFilesPlace,
  FoundPassage,
  KnowledgeContext,
  TokenSpace,
  UnindexedFiles,
} from '../knowledge-context.ts';
import type { KeptFiles } from '../service.ts';
import { stateOf } from '../stored-kinds.ts';
import { CitationFilter } from './citation-filter.ts';
import { CitationJudge } from './citation-judge.ts';
import { fitPassages } from './fitted-passages.ts';
import { nothingFoundIn, withoutNotice } from './nothing-found.ts';
import { NoticeFilter } from './notice-filter.ts';
import { instructionFor, passageText } from './passage-prompt.ts';
import type { Speaker } from './speaker.ts';

interface Consulted {
  readonly tenant: string;
  readonly question: AskedQuestion;
  /** `aside`: the question asks nothing of documents, and the model answers it as without them. */
  readonly relevance: Relevance | 'aside';
  /** Best first; none where nothing is relevant. */
  readonly passages: readonly ReadPassage[];
  /** The first of them, as the model and the client get them; undefined: all. Sentences of the others may be quoted. */
  readonly shown?: readonly PassageResult[] | undefined;
  /** The question asks for all of something, or its client for a number of passages: the model gets as many as fit. */
  readonly isList: boolean;
  readonly speaker: Speaker;
  readonly kept: KeptFiles;
  /** The base of the conversation's own files, which is named by the conversation alone. */
  readonly files?: (ConversationFilesPlace & { readonly namespace: string }) | undefined;
  /** No sentence may be put in front of the answer. */
  readonly keepsForm?: boolean | undefined;
  /** Nothing may be put behind it. */
  readonly offersTools?: boolean | undefined;
}

export class ConsultedPassages implements KnowledgeContext {
  readonly instruction: string;
  readonly passages: string;
  readonly query: string;
  readonly unindexed: UnindexedFiles;
  readonly #tenant: string;
  readonly #files: Consulted['files'];
  readonly #consulted: Consulted;
  readonly #passages: readonly ReadPassage[];
  readonly #shown: readonly PassageResult[];
  readonly #judge: CitationJudge;
  /** Undefined: there is nothing to say. */
  readonly #notice: string | undefined;
  readonly #mayQuote: boolean;
  readonly #question: AskedQuestion;
  readonly #isSure: boolean;
  readonly #speaker: Speaker;
  readonly #offersTools: boolean;
  #ranked: { readonly evidence: EvidenceText | undefined } | undefined;

  constructor(consulted: Consulted) {
    const { tenant, question, relevance, passages, kept, speaker, keepsForm = false, offersTools = false } = consulted;
    const { files: own, shown = passages.map(({ result }) => result) } = consulted;
    this.#consulted = consulted;
    this.query = question.text;
    this.#tenant = tenant;
    this.#files = own;
    this.#question = question;
    this.#passages = passages;
    this.#shown = shown;
    this.#isSure = relevance === 'found';
    this.#speaker = speaker;
    this.#offersTools = offersTools;
    this.#judge = new CitationJudge(question.text, this.#shown);
    this.#notice = relevance === 'nothing' && !keepsForm ? nothingFoundIn(question.language) : undefined;
    this.#mayQuote = passages.length > 0 && !keepsForm && !offersTools;
    const files = kept.files.map(({ namespace, document: { id, source, kind } }) => {
      return {
        namespace: namespace === own?.namespace ? undefined : namespace,
        documentId: id,
        source,
        detail: stateOf(kind).detail ?? '',
      };
    });
    this.unindexed = { count: kept.count, files };
    // Without a passage that fits, the model answers as if none was asked for, and the evidence stands behind.
    const isBare = relevance === 'aside' || (passages.length > 0 && shown.length === 0);
    this.instruction = isBare ? '' : instructionFor(relevance, this.unindexed);
    this.passages = isBare ? '' : passageText(shown, this.unindexed);
  }

  async fit({ nTokens, count }: TokenSpace): Promise<KnowledgeContext> {
    const nUnreadable = this.unindexed.count === 0 ? 0 : await count(passageText([], this.unindexed));
    const space = { nTokens: nTokens - nUnreadable, count };
    const shown = await fitPassages(this.#shown, space, this.#consulted.isList);
    return new ConsultedPassages({ ...this.#consulted, shown });
  }

  withoutTools(): KnowledgeContext {
    return new ConsultedPassages({ ...this.#consulted, offersTools: false });
  }

  get found(): readonly FoundPassage[] {
    return this.#shown.map(({ fileId, source, score, text, attributes }) => {
      return { fileId, fileName: source, score, text, attributes };
    });
  }

  ownWords(answer: string): string {
    return ownWords(answer);
  }

  newFilter(): AnswerFilter {
    const judge = this.#judge;
    const filter = new CitationFilter(
      (n, sentence) => judge.holds(n, sentence),
      (answer, marks) => judge.unsupportedIn(answer, marks),
    );
    if (this.#notice !== undefined) return new NoticeFilter(this.#notice, filter);
    return this.#mayQuote ? new EvidenceFilter(filter, () => this.#evidence(), this.#isSure) : filter;
  }

  /** What a program reads has its form from the model alone. */
  silences(model: ProbedModel): boolean {
    if (this.#notice !== undefined && !this.#offersTools) return this.#speaker.isSilentBehindNothing(model);
    return this.#mayQuote && this.#speaker.isSilent(model) && this.#evidence() !== undefined;
  }

  /** Sentences are ranked once, when it is needed: all choices of an answer have the same evidence. */
  #evidence(): EvidenceText | undefined {
    this.#ranked ??= { evidence: evidenceFor(this.#question, this.#passages, this.#isSure) };
    return this.#ranked.evidence;
  }

  citationsOf({ marks, unsupported }: Pick<AnswerFilter, 'marks' | 'unsupported'>): CheckedCitations {
    const claims = Map.groupBy(unsupported, ({ n }) => n);
    const numbers = [...new Set(marks.map(({ n }) => n))].sort((a, b) => a - b);
    const citations = numbers.flatMap((n) => {
      const result = this.#passages[n - 1]?.result;
      const named = claims.get(n)?.map(({ text, start, end }) => ({ text, start, end }));
      return result === undefined ? [] : [{ ...citationOf(n, this.#tenant, result, this.#files), unsupported: named }];
    });
    return { citations, marks };
  }
}

function citationOf(n: number, tenant: string, result: PassageResult, files: Consulted['files']): Citation {
  const isOwn = result.namespace === files?.namespace;
  const { namespace, documentId, fileId, source, page, sheet, slide, startSeconds, endSeconds, start, end, text, score } = result;
  const isWeb = /^https?:\/\/\S+$/.test(source);
  const shared = { n, documentId, fileId, source, page, sheet, slide, startSeconds, endSeconds, start, end, text, score };
  if (isOwn) {
    const { conversationId } = files;
    const url = `/api/v1/edge/conversations/files/${encodeURIComponent(documentId)}?id=${encodeURIComponent(conversationId)}`;
    return { ...shared, namespace: undefined, conversationId, url: isWeb ? source : url };
  }
  const path = [tenant, namespace, documentId].map(encodeURIComponent).join('/');
  return { ...shared, namespace, url: isWeb ? source : `/api/v1/vector/documents/${path}` };
}

/**
 * What a model itself said in an earlier answer, since models write as they believe to have written before, and only documents are quoted: without
 * the sentence in front and the evidence behind that were not the model's; all of it where nothing else is left.
 */
export function ownWords(answer: string): string {
  const own = withoutEvidence(withoutNotice(answer)).trim();
  return own === '' ? answer : own;
}
