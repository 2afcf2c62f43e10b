/** The answer of the routes that read a document. */
import type { Static } from 'typebox';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { StoredDocument } from '../knowledge-base.ts';
import { type DocumentDetail, type TextQuery, toDocumentShape } from '../schemas.ts';
import type { KnowledgeService } from '../service.ts';

export async function readDocument(
  service: Pick<KnowledgeService, 'readText' | 'readAround'>,
  caller: Principal,
  document: StoredDocument,
  { from = 0, around }: Static<typeof TextQuery>,
): Promise<Static<typeof DocumentDetail>> {
  const scope = scopeOf(caller);
  const { text, start, next } =
    around === undefined ? await service.readText(scope, document, from) : await service.readAround(scope, document, around);
  return { ...toDocumentShape(document), text, text_start: start, ...(next === undefined ? {} : { next }) };
}
