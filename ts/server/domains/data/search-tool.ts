/** The tool `knowledge.search`: passages of the caller's knowledge bases. */
import Type from 'typebox';
import { scopeOf } from '../../platform/http/principal.ts';
import { defineTool, type Tool } from '../../platform/tools/tool.ts';
import { readQuestion } from './evidence/asked-question.ts';
import { readPassages } from './evidence/read-passages.ts';
import { relevanceOf } from './evidence/relevance.ts';
import type { KnowledgeAccess } from './knowledge-access.ts';
import { MAX_BASES, MAX_QUERY } from './limits.ts';
import type { KnowledgeService } from './service.ts';

const DEFAULT_PASSAGES = 5;
const MOST_PASSAGES = 20;

const Input = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: MAX_QUERY, pattern: '\\S', description: 'What to look for, in any language.' }),
    namespaces: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        minItems: 1,
        maxItems: MAX_BASES,
        description: 'Names of knowledge bases. Leave it out to search all of them.',
      }),
    ),
    top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_PASSAGES, description: 'How many passages.' })),
  },
  { additionalProperties: false },
);

export function knowledgeSearchTool(service: KnowledgeService, access: KnowledgeAccess): Tool {
  return defineTool({
    name: 'knowledge.search',
    description: 'Find passages in the documents of the knowledge bases, by words and by meaning.',
    input: Input,
    effect: 'read',
    scope: 'knowledge:read',
    maxSeconds: 60,
    isUntrusted: true,
    run: async ({ caller, arguments: { query, namespaces, top_k: k = DEFAULT_PASSAGES } }, signal) => {
      access.requireSearching();
      if (namespaces !== undefined) await access.scopeFor(caller, caller.tenant, ...namespaces);
      const bases =
        namespaces ?? (await access.usable(caller, await service.list(scopeOf(caller)))).map((base) => base.namespace);
      const found = await service.search(scopeOf(caller), bases.slice(0, MAX_BASES), { text: query, k, signal });
      const leftOut = bases.slice(MAX_BASES);
      const asked = readQuestion(query);
      const answerable = relevanceOf(asked, await readPassages(asked, found)) === 'found';
      const passages = found.map(({ namespace, source, title, page, heading, text }) => ({
        namespace,
        source,
        title,
        page,
        heading,
        text,
      }));
      return { passages, answerable, ...(leftOut.length > 0 && { namespaces_left_out: leftOut }) };
    },
  });
}
