/** The documents that a caller may read, of all its knowledge bases in turn. */
import { DomainError } from '../../platform/errors/domain-error.ts';
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { KnowledgeAccess } from './knowledge-access.ts';
import type { StoredDocument } from './knowledge-base.ts';
import type { KnowledgeService } from './service.ts';

interface DocumentsPage {
  readonly documents: readonly { readonly namespace: string; readonly document: StoredDocument }[];
  /** The next page begins there; undefined at the end. */
  readonly next: string | undefined;
}

const MOST_CHARACTERS = 1_000_000;

export class CallerDocuments {
  readonly #service: KnowledgeService;
  readonly #access: KnowledgeAccess;

  constructor(service: KnowledgeService, access: KnowledgeAccess) {
    this.#service = service;
    this.#access = access;
  }

  /** @param cursor `next` of the page before; one that was never given begins where it would stand. */
  async list(caller: Principal, cursor: string | undefined, limit: number): Promise<DocumentsPage> {
    const scope = scopeOf(caller);
    const from = placeOf(cursor);
    const bases = await this.#access.usable(caller, await this.#service.list(scope));
    const documents: { namespace: string; document: StoredDocument }[] = [];
    const names = bases.map(({ namespace }) => namespace).toSorted((a, b) => (a < b ? -1 : 1));
    for (const namespace of names.filter((name) => name >= from.namespace)) {
      const after = namespace === from.namespace && from.id !== '' ? from.id : undefined;
      const page = await this.#service.listDocuments(scope, namespace, { limit: limit + 1 - documents.length, after });
      documents.push(...page.map((document) => ({ namespace, document })));
      if (documents.length > limit) break;
    }
    const shown = documents.slice(0, limit);
    const last = documents.length > limit ? shown.at(-1) : undefined;
    return { documents: shown, next: last && cursorOf(last.namespace, last.document.id) };
  }

  /** The text, up to a million characters. Undefined: there is no such document, or the caller may not read it. */
  async read(caller: Principal, namespace: string, id: string): Promise<string | undefined> {
    try {
      const scope = await this.#access.scopeFor(caller, caller.tenant, namespace);
      const document = await this.#service.getDocument(scope, namespace, id);
      let text = '';
      for (let from: number | undefined = 0; from !== undefined && text.length < MOST_CHARACTERS; ) {
        const part = await this.#service.readText(scope, document, from);
        // Stretches overlap where the passages that they begin with do.
        text = text.slice(0, part.start).padEnd(part.start, '\n') + part.text;
        from = part.next;
      }
      return text.slice(0, MOST_CHARACTERS);
    } catch (error) {
      if (error instanceof DomainError && /^(?:namespace|document)_not_found$/.test(error.code)) return undefined;
      throw error;
    }
  }
}

function cursorOf(namespace: string, id: string): string {
  return Buffer.from(JSON.stringify([namespace, id])).toString('base64url');
}

function placeOf(cursor: string | undefined): { namespace: string; id: string } {
  try {
    const [namespace, id] = JSON.parse(Buffer.from(cursor ?? '', 'base64url').toString()) as unknown[];
    return { namespace: String(namespace), id: String(id) };
  } catch {
    return { namespace: '', id: '' };
  }
}
