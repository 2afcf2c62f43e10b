/** What was found for a question: what the model gets of it, and which of it an answer cites rightly. */
import type {
  AnswerFilter,
  CheckedCitations,
  Citation,
  CitationMark,
  FoundPassage,
  KnowledgeContext,
  UnindexedFiles,
} from '../../inference/index.ts';
import { stateOf } from '../ingest/stored-kinds.ts';
import type { PassageResult } from '../search/passage-result.ts';
import type { KeptFiles } from '../service.ts';
import { CitationFilter } from './citation-filter.ts';
import { CitationJudge } from './citation-judge.ts';
import { nothingFoundIn } from './nothing-found.ts';
import { NoticeFilter } from './notice-filter.ts';
import { ownWords } from './own-words.ts';
import { instructionFor, passageText } from './passage-prompt.ts';
import { languageOf } from './question-language.ts';
import { nearestSentence } from './quotation/nearest-sentence.ts';
import { type Quotation, quotationIn } from './quotation/quotation.ts';
import { QuotationFilter } from './quotation/quotation-filter.ts';

export interface Consulted {
  readonly tenant: string;
  readonly query: string;
  readonly results: readonly PassageResult[];
  readonly kept: KeptFiles;
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
  readonly #results: readonly PassageResult[];
  readonly #judge: CitationJudge;
  /** Undefined: there is nothing to say. */
  readonly #notice: string | undefined;
  readonly #mayQuote: boolean;

  constructor({ tenant, query, results, kept, keepsForm = false, offersTools = false }: Consulted) {
    this.query = query;
    this.#tenant = tenant;
    this.#results = results;
    this.#judge = new CitationJudge(query, results);
    const isSilent = results.length > 0 || query === '' || keepsForm;
    this.#notice = isSilent ? undefined : nothingFoundIn(languageOf(query));
    this.#mayQuote = results.length > 0 && !keepsForm && !offersTools;
    const files = kept.files.map(({ namespace, document: { id, source, kind } }) => {
      return { namespace, documentId: id, source, detail: stateOf(kind).detail ?? '' };
    });
    this.unindexed = { count: kept.count, files };
    this.instruction = instructionFor(results, this.unindexed);
    this.passages = passageText(results, this.unindexed);
  }

  get found(): readonly FoundPassage[] {
    return this.#results.map(({ fileId, source, score, text, attributes }) => {
      return { fileId, fileName: source, score, text, attributes };
    });
  }

  ownWords(answer: string): string {
    return ownWords(answer);
  }

  newFilter(): AnswerFilter {
    const filter = new CitationFilter((n, sentence) => this.#judge.holds(n, sentence));
    if (this.#notice !== undefined) return new NoticeFilter(this.#notice, filter);
    return this.#mayQuote ? new QuotationFilter(filter, () => this.#quotation()) : filter;
  }

  #quotation(): Quotation | undefined {
    const nearest = nearestSentence(this.query, this.#results, (n) => this.#judge.isCitable(n));
    if (nearest === undefined || !this.#judge.holds(nearest.n, nearest.text)) return undefined;
    return quotationIn(languageOf(this.query), nearest);
  }

  citationsOf(marks: readonly CitationMark[]): CheckedCitations {
    const numbers = [...new Set(marks.map(({ n }) => n))].sort((a, b) => a - b);
    const citations = numbers.flatMap((n) => {
      const result = this.#results[n - 1];
      return result === undefined ? [] : [citationOf(n, this.#tenant, result)];
    });
    return { citations, marks };
  }
}

function citationOf(n: number, tenant: string, result: PassageResult): Citation {
  const { namespace, documentId, fileId, source, page, sheet, slide, start, end, text, score } = result;
  const isWeb = /^https?:\/\/\S+$/.test(source);
  const path = [tenant, namespace, documentId].map(encodeURIComponent).join('/');
  const url = isWeb ? source : `/api/v1/vector/documents/${path}`;
  return { n, namespace, documentId, fileId, source, page, sheet, slide, start, end, text, score, url };
}
