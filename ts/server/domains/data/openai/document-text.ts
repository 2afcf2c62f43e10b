/** The stored text of a document, piece by piece. */
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import type { StoredDocument } from '../knowledge-base.ts';
import type { KnowledgeService } from '../service.ts';

export async function* documentText(
  knowledge: Pick<KnowledgeService, 'readText'>,
  caller: Principal,
  document: StoredDocument,
): AsyncGenerator<Uint8Array> {
  // Passages overlap, also where one piece ends and the next begins.
  let sent = 0;
  for (let from: number | undefined = 0; from !== undefined; ) {
    const { start, text, next } = await knowledge.readText(scopeOf(caller), document, from);
    const rest = text.slice(Math.max(0, sent - start));
    if (rest !== '') yield Buffer.from(rest);
    sent = Math.max(sent, start + text.length);
    from = next;
  }
}
