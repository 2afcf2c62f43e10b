/** Functions of the server that read text from outside, each as its caller calls it. */

import { withFileTexts } from '../../ts/server/domains/completions/compat/openai-responses/file-search/input-files.ts';
import { numberedEvents } from '../../ts/server/domains/completions/resumable-streams/resumable-stream.ts';
import { HitCollector, snippetOf } from '../../ts/server/domains/conversations/search/hit-collector.ts';
import { SearchQuery } from '../../ts/server/domains/conversations/search/search-query.ts';
import { listTerms } from '../../ts/server/domains/conversations/search/terms.ts';
import { ElementSplitter } from '../../ts/server/domains/conversations/transfer/element-splitter.ts';
import { readConversation } from '../../ts/server/domains/conversations/transfer/import-formats.ts';
import { factsOf, holds, PassageWords, plainWordsOf } from '../../ts/server/domains/data/chat/citation-check.ts';
import { CitationFilter } from '../../ts/server/domains/data/chat/citation-filter.ts';
import { ownWords } from '../../ts/server/domains/data/chat/consulted-passages.ts';
import { questionOf } from '../../ts/server/domains/data/chat/knowledge-answers.ts';
import { withoutNotice } from '../../ts/server/domains/data/chat/nothing-found.ts';
import { passageText } from '../../ts/server/domains/data/chat/passage-prompt.ts';
import { unsupportedClaims } from '../../ts/server/domains/data/claims/answer-claims.ts';
import { ClaimSupport, unsupportedIn } from '../../ts/server/domains/data/claims/claims.ts';
import { readQuestion } from '../../ts/server/domains/data/evidence/asked-question.ts';
import { denies } from '../../ts/server/domains/data/evidence/denial.ts';
import { evidenceFor } from '../../ts/server/domains/data/evidence/evidence.ts';
import { withoutEvidence } from '../../ts/server/domains/data/evidence/evidence-text.ts';
import { languageOf } from '../../ts/server/domains/data/evidence/question-language.ts';
import { quotableSentences, sentencesOf } from '../../ts/server/domains/data/evidence/quotable-sentences.ts';
import { readPassage } from '../../ts/server/domains/data/evidence/read-passages.ts';
import { relevanceOf } from '../../ts/server/domains/data/evidence/relevance.ts';
import { isSmallTalk } from '../../ts/server/domains/data/evidence/small-talk.ts';
import { wordFormsOf } from '../../ts/server/domains/data/evidence/word-forms.ts';
import { textParts } from '../../ts/server/domains/data/ingest/source-parts.ts';
import { namespaceOf } from '../../ts/server/domains/data/vector-stores/namespace-of.ts';
import { readChecksum, readMetadata } from '../../ts/server/domains/files/uploads/tus/tus-headers.ts';
import { isExternalUsername, nameKey } from '../../ts/server/domains/identity/accounts/account-name.ts';
import { requireStrongPassword } from '../../ts/server/domains/identity/accounts/password-rules.ts';
import { readChecks, readFirstBlock } from '../../ts/server/domains/identity/capabilities/block-reader.ts';
import { readEnvelope } from '../../ts/server/domains/identity/capabilities/envelope.ts';
import { predicatesOf } from '../../ts/server/domains/identity/capabilities/restrictions.ts';
import { isWholeApiKey } from '../../ts/server/domains/identity/credentials/api-key.ts';
import { presentedCredential } from '../../ts/server/domains/identity/identity-authenticator.ts';
import { returnPath } from '../../ts/server/domains/identity/oidc/return-path.ts';
import { parseContentRange } from '../../ts/server/domains/inference/library/download/download-plan.ts';
import { findModelName, isModelName } from '../../ts/server/domains/inference/library/model-name.ts';
import { parseModelReference } from '../../ts/server/domains/inference/library/model-reference.ts';
import { isOfFamily } from '../../ts/server/domains/inference/models/selection.ts';
import { inspectLicense } from '../../ts/server/domains/license/signed-license.ts';
import { cutDocument } from '../../ts/server/domains/retrieval/passages/passage-cutter.ts';
import { formatOf, readText } from '../../ts/server/domains/retrieval/passages/text-blocks.ts';
import { fusionOf, MAX_QUESTION } from '../../ts/server/domains/retrieval/search/retriever.ts';
import { stem } from '../../ts/server/domains/retrieval/terms/stem.ts';
import { termVector } from '../../ts/server/domains/retrieval/terms/term-vector.ts';
import { parseFilter } from '../../ts/server/domains/scim/filter/parse-filter.ts';
import { resolvePath } from '../../ts/server/domains/scim/resource/attribute-path.ts';
import { USER } from '../../ts/server/domains/scim/resource/kinds.ts';
import { isListed } from '../../ts/server/domains/scim/versioned.ts';
import { extract } from '../../ts/server/extraction/extract.ts';
import { bytesAccess } from '../../ts/server/extraction/random-access.ts';
import { writeDocx } from '../../ts/server/extraction/test-support/docx-writer.ts';
import { writeEpub } from '../../ts/server/extraction/test-support/epub-writer.ts';
import { writeOdt } from '../../ts/server/extraction/test-support/odf-writer.ts';
import { writePdf } from '../../ts/server/extraction/test-support/pdf-writer.ts';
import { writePptx } from '../../ts/server/extraction/test-support/pptx-writer.ts';
import { writeXlsx } from '../../ts/server/extraction/test-support/xlsx-writer.ts';
import { modules } from '../../ts/server/modules.ts';
import { hostName } from '../../ts/server/platform/http/access/browser-guard.ts';
import { readForwarded, readForwardedFor } from '../../ts/server/platform/http/access/forwarded-chain.ts';
import { parseJsonBody, requireJsonType } from '../../ts/server/platform/http/body/body-reader.ts';
import { cleanFileName } from '../../ts/server/platform/http/body/file-name.ts';
import { findFramingFault } from '../../ts/server/platform/http/listen/framing.ts';
import { isNotModified } from '../../ts/server/platform/http/reply/entity-tag.ts';
import { readRange } from '../../ts/server/platform/http/reply/file-answer.ts';
import { parseQuery } from '../../ts/server/platform/http/routing/query.ts';
import { mediaTypeOf } from '../../ts/server/platform/http/static/media-type.ts';
import { chooseCoding } from '../../ts/server/platform/http/static/static-folder.ts';
import { redactText } from '../../ts/server/platform/log/redact.ts';
import { useKindsOf } from '../../ts/server/platform/module/module.ts';
import { addressKey } from '../../ts/server/platform/network/address-key.ts';
import { canonicalAddress } from '../../ts/server/platform/network/address-list.ts';
import { closestName } from '../../ts/server/platform/text/closest-name.ts';
import { escapeHtml } from '../../ts/server/platform/text/escape-html.ts';
import { matchesAny } from '../../ts/server/platform/text/name-pattern.ts';
import { normalized } from '../../ts/server/platform/text/normalized.ts';
import { fold, wordsOf } from '../../ts/server/platform/text/words.ts';
import { isTimeOrderedId } from '../../ts/server/platform/time-ordered-id.ts';

export interface TextFunction {
  readonly name: string;
  run(text: string): unknown;
  /** Characters that its caller lets pass. */
  readonly most?: number;
  /** It does not run on the event loop. */
  readonly isInThread?: boolean;
}

/** All headers of a request together (UWS_HTTP_MAX_HEADERS_SIZE). */
const MAX_HEADERS = 16_384;
/** A row or line that is longer is cut, and a heading stands before it. */
const MAX_PASSAGE = 8_192;
const FILE_NAMES = ['', 'a.md', 'a.html', 'a.csv', 'a.json', 'a.yaml', 'a.sql', 'a.ts', 'a.eml'];

const words: readonly TextFunction[] = [
  { name: 'fold', run: fold },
  { name: 'normalized', run: (text) => normalized(text, 'NFC') },
  { name: 'wordsOf', run: (text) => count(wordsOf(text)), isInThread: true },
  { name: 'closestName', run: (text) => closestName(text, ['one', 'other']) },
  { name: 'escapeHtml', run: escapeHtml },
  { name: 'redactText', run: redactText },
];

const conversations: readonly TextFunction[] = [
  { name: 'terms of a message', run: listTerms },
  { name: 'search query', run: (text) => new SearchQuery(text).terms, most: 200 },
  { name: 'search in a message', run: searchIn },
  { name: 'snippet', run: (text) => snippetOf(text, [{ start: text.length / 2, end: text.length }]) },
  { name: 'import splitter', run: splitElements },
  { name: 'import of a title', run: (text) => readConversation({ messages: [], title: text, id: text }, 0) },
];

const knowledge: readonly TextFunction[] = [
  { name: 'term vector', run: termVector, isInThread: true },
  { name: 'stem', run: stem },
  { name: 'question', run: (text) => questionOf([text, text]) },
  { name: 'fusion of a question', run: (text) => fusionOf('hybrid', text, undefined), most: MAX_QUESTION },
  { name: 'language of a question', run: languageOf },
  { name: 'passage prompt', run: (text) => passageText([passageOf(text)], { count: 1, files: [{ source: text }] } as never) },
  { name: 'citation filter', run: (text) => filterWhole(text) },
  { name: 'citation filter in pieces', run: (text) => filterPieces(text) },
  { name: 'facts of a sentence', run: factsOf, most: MAX_PASSAGE },
  { name: 'plain words of a sentence', run: plainWordsOf, most: MAX_PASSAGE },
  { name: 'citation check', run: (text) => holds(text, new PassageWords(text)), most: MAX_PASSAGE },
  { name: 'claims of a text', run: (text) => unsupportedIn(text, languageOf(text), [new ClaimSupport(text)]), most: MAX_PASSAGE },
  { name: 'claims of an answer', run: claimsOf },
  { name: 'denial', run: denies },
  { name: 'quotable sentences', run: (text) => quotableSentences(text, new Set([text])), most: MAX_PASSAGE },
  { name: 'answer without its notice', run: withoutNotice },
  { name: 'answer without its evidence', run: withoutEvidence },
  { name: 'asked question', run: (text) => isSmallTalk(readQuestion(text)), most: MAX_QUESTION },
  { name: 'evidence of a passage', run: evidenceOf, most: MAX_PASSAGE },
  { name: 'sentences', run: sentencesOf, most: MAX_PASSAGE },
  { name: 'word forms', run: wordFormsOf, most: MAX_PASSAGE },
  { name: 'own words', run: ownWords },
  { name: 'store name', run: namespaceOf },
  { name: 'source parts', run: textParts },
  { name: 'source format', run: formatOf },
  { name: 'passages of a text', run: (text) => cutDocument(readText(text, 'text')), isInThread: true },
  { name: 'passages of Markdown', run: (text) => cutDocument(readText(text, 'markdown')), isInThread: true },
  { name: 'upload metadata', run: readMetadata, most: MAX_HEADERS },
  { name: 'upload checksum', run: readChecksum, most: MAX_HEADERS },
];

const extraction: readonly TextFunction[] = [
  ...FILE_NAMES.map((fileName) => ({
    name: `extraction of ${fileName || 'a file without a name'}`,
    run: (text: string) => extract(bytesAccess(Buffer.from(text)), { fileName }),
    isInThread: true,
  })),
  {
    name: 'extraction of DOCX',
    run: (text) => extractBytes(writeDocx({ title: text, blocks: documentBlocks(text) })),
    isInThread: true,
  },
  {
    name: 'extraction of XLSX',
    run: (text) =>
      extractBytes(
        writeXlsx([
          {
            name: 'a',
            rows: [
              ['A', 'B'],
              [text, text],
            ],
          },
        ]),
      ),
    isInThread: true,
  },
  {
    name: 'extraction of PPTX',
    run: (text) => extractBytes(writePptx([{ title: 'a', lines: [text], notes: text }])),
    isInThread: true,
  },
  {
    name: 'extraction of ODT',
    run: (text) => extractBytes(writeOdt({ title: text, blocks: documentBlocks(text) })),
    isInThread: true,
  },
  {
    name: 'extraction of EPUB',
    run: (text) => extractBytes(writeEpub({ title: text, language: 'en', chapters: [`<p>${escapeHtml(text)}</p>`] })),
    isInThread: true,
  },
  {
    name: 'extraction of PDF',
    run: (text) => extractBytes(writePdf([[{ text, x: 10, y: 100, size: 10 }]])),
    isInThread: true,
  },
];

const predicates = predicatesOf(useKindsOf(modules));

const identity: readonly TextFunction[] = [
  { name: 'account name', run: nameKey },
  { name: 'external account name', run: isExternalUsername },
  { name: 'address of a client', run: addressKey },
  { name: 'password', run: (text) => requireStrongPassword(text, 'abc'), most: 256 },
  {
    name: 'checks of a capability',
    run: (text) => [readChecks(predicates, text), readFirstBlock(predicates, text)],
    most: 131_072,
  },
  { name: 'envelope of a capability', run: readEnvelope, most: 8_192 },
  { name: 'API key', run: isWholeApiKey },
  {
    name: 'presented credential',
    run: (text) =>
      presentedCredential(
        new Map([
          ['authorization', text],
          ['cookie', text],
        ]),
      ),
    most: MAX_HEADERS,
  },
  { name: 'pattern of names', run: (text) => matchesAny([text.slice(0, 256)], text.slice(0, 256)) },
  { name: 'return path', run: returnPath },
  { name: 'SCIM filter', run: (text) => parseFilter(text) },
  { name: 'SCIM path', run: (text) => resolvePath(USER, text) },
  { name: 'SCIM versions', run: (text) => isListed(text, 'W/"1"'), most: MAX_HEADERS },
];

const inference: readonly TextFunction[] = [
  { name: 'file in a message', run: quoteFile },
  { name: 'base64 of a file in a message', run: (text) => quoteData(text) },
  { name: 'model name', run: (text) => [isModelName(text), findModelName(text), isOfFamily(text, 'a')] },
  { name: 'model reference', run: (text) => parseModelReference(text) },
  { name: 'content range', run: parseContentRange, most: MAX_HEADERS },
  { name: 'numbered events', run: (text) => numberedEvents(text, 1) },
];

const http: readonly TextFunction[] = [
  { name: 'query', run: (text) => parseQuery(text, new Set(['a'])), most: MAX_HEADERS },
  { name: 'X-Forwarded-For', run: readForwardedFor, most: MAX_HEADERS },
  { name: 'Forwarded', run: readForwarded, most: MAX_HEADERS },
  { name: 'host', run: hostName, most: MAX_HEADERS },
  { name: 'file name', run: cleanFileName },
  { name: 'content type', run: (text) => requireJsonType(text), most: MAX_HEADERS },
  { name: 'JSON body', run: (text) => parseJsonBody(Buffer.from(text)) },
  { name: 'framing', run: (text) => findFramingFault('post', ['host', text, 'transfer-encoding', text]), most: MAX_HEADERS },
  { name: 'range', run: (text) => readRange(text, 1000), most: MAX_HEADERS },
  { name: 'entity tag', run: (text) => isNotModified(new Map([['if-none-match', text]]), '"a"', undefined), most: MAX_HEADERS },
  { name: 'accept-encoding', run: (text) => chooseCoding(text, ['br', 'gzip']), most: MAX_HEADERS },
  { name: 'media type', run: mediaTypeOf, most: MAX_HEADERS },
  { name: 'address', run: canonicalAddress, most: MAX_HEADERS },
  { name: 'time-ordered id', run: isTimeOrderedId },
  { name: 'license', run: (text) => inspectLicense(text, {} as never) },
];

export const textFunctions: readonly TextFunction[] = [
  ...words,
  ...conversations,
  ...knowledge,
  ...extraction,
  ...identity,
  ...inference,
  ...http,
];

function count(values: Iterable<unknown>): number {
  let n = 0;
  for (const _ of values) n += 1;
  return n;
}

function searchIn(text: string): unknown {
  const collector = new HitCollector(new SearchQuery(text.slice(0, 200)));
  const message = { id: 'm', role: 'user', content: text };
  return collector.found({ conversationId: 'c', title: text.slice(0, 500), message, ts: 0 } as never);
}

function splitElements(text: string): number {
  const splitter = new ElementSplitter({ maxBytes: 1024, maxValues: 1024 });
  const piece = Buffer.from(`[{"a": ${JSON.stringify(text)}}]`);
  return count(splitter.push(piece));
}

function passageOf(text: string): Parameters<typeof passageText>[0][number] {
  return { source: text, title: text, heading: text, sheet: text, text } as never;
}

/** The question's words are those of the passage, so that much is found. */
function evidenceOf(text: string): unknown {
  const question = readQuestion(text.slice(0, MAX_QUESTION));
  const passages = [readPassage(question, { ...passageOf(text), score: 1, relevance: 1, documentNo: 1 })];
  return [relevanceOf(question, passages), evidenceFor(question, passages, true)];
}

/** Of an answer that cites at its beginning and at its end. */
function claimsOf(text: string): unknown {
  const support = new ClaimSupport('');
  const marks = [0, text.length].map((start) => ({ n: 1, start, end: start }));
  return unsupportedClaims(
    text,
    marks,
    () => support,
    () => [support],
    [],
    'en',
  );
}

function filterWhole(text: string): string {
  const filter = new CitationFilter(() => true);
  return filter.push(text) + filter.end();
}

/** As tokens come. */
function filterPieces(text: string): number {
  const filter = new CitationFilter((n) => n % 2 === 0);
  let length = 0;
  for (let at = 0; at < text.length; at += 4) length += filter.push(text.slice(at, at + 4)).length;
  return length + filter.end().length;
}

function documentBlocks(text: string): Parameters<typeof writeDocx>[0]['blocks'] {
  return [
    { type: 'heading', text, level: 1 },
    { type: 'paragraph', text },
  ];
}

function extractBytes(bytes: Buffer): unknown {
  return extract(bytesAccess(bytes), {});
}

function quoteFile(text: string): unknown {
  const input = [{ role: 'user', content: [{ type: 'input_file', file_data: 'YQ==', filename: text }] }];
  return withFileTexts(input, () => Promise.resolve({ fileName: text, text }));
}

function quoteData(text: string): unknown {
  const input = [{ role: 'user', content: [{ type: 'input_file', file_data: text }] }];
  return withFileTexts(input, () => Promise.resolve({ fileName: 'a', text: '' }));
}
