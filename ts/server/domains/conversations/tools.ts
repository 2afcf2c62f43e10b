/** The tools `conversations.search` and `artifacts.create`, which work on what is the caller's own. */
import Type from 'typebox';
import { defineTool, type Tool } from '../../platform/tools/tool.ts';
import { ARTIFACT_KINDS } from './artifacts/artifact.ts';
import type { ArtifactService } from './artifacts/artifact-service.ts';
import { MAX_ARTIFACT_LENGTH, MAX_SEARCH_LENGTH, MAX_TITLE_LENGTH } from './limits.ts';
import { ownerOf } from './owner.ts';
import { toHitShape } from './schemas.ts';
import type { ConversationService } from './service.ts';

const SearchInput = Type.Object(
  { query: Type.String({ minLength: 1, maxLength: MAX_SEARCH_LENGTH, description: 'Words that a message or a title has.' }) },
  { additionalProperties: false },
);

const ArtifactInput = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: MAX_TITLE_LENGTH }),
    kind: Type.Enum([...ARTIFACT_KINDS]),
    language: Type.Optional(Type.String({ maxLength: 50, description: 'Of code.' })),
    content: Type.String({ minLength: 1, maxLength: MAX_ARTIFACT_LENGTH }),
  },
  { additionalProperties: false },
);

export function conversationTools({
  conversations,
  artifacts,
}: {
  conversations: ConversationService;
  artifacts: ArtifactService;
}): Tool[] {
  return [
    defineTool({
      name: 'conversations.search',
      description: 'Find what was said in the earlier conversations of the person who asks.',
      input: SearchInput,
      effect: 'read',
      scope: 'account:manage',
      maxSeconds: 30,
      isUntrusted: true,
      run: async ({ caller, arguments: { query } }) => {
        const hits = await conversations.search(ownerOf(caller), query);
        return { hits: hits.map(toHitShape) };
      },
    }),
    defineTool({
      name: 'artifacts.create',
      description: 'Keep a page, a drawing, a text or a program that the person may look at, change and share.',
      input: ArtifactInput,
      effect: 'write',
      scope: 'account:manage',
      maxSeconds: 30,
      isUntrusted: false,
      run: async ({ caller, conversation, arguments: { title, kind, language, content } }) => {
        const { artifact } = await artifacts.create(ownerOf(caller), {
          title,
          kind,
          language,
          content,
          conversationId: conversation,
        });
        return { id: artifact.id, title: artifact.title, kind: artifact.kind };
      },
      made: (result) => [(result as { readonly id: string }).id],
    }),
  ];
}
