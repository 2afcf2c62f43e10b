/** Export of conversations to a file, and import from one. */
import Type from 'typebox';
import { RawBody } from '../../../platform/http/body/body-schema.ts';
import type { Reply, Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { conversationErrors } from '../errors.ts';
import { MAX_IMPORT_BODY_BYTES } from '../limits.ts';
import { ownerOf } from '../owner.ts';
import { ExportQuery, ImportResult, timeText } from '../schemas.ts';
import type { ConversationService } from '../service.ts';
import { exportJson } from '../transfer/json-export.ts';
import { exportMarkdown } from '../transfer/markdown-export.ts';
import { PATH } from './conversation-routes.ts';

const KINDS = {
  json: { type: 'application/json', extension: 'json' },
  markdown: { type: 'text/markdown; charset=utf-8', extension: 'md' },
} as const;

const { get, post } = routes({ tag: 'Conversations', auth: 'viewer', scope: 'account:manage', errors: conversationErrors });

export function transferRoutes(service: ConversationService): Route[] {
  return [exportRoute(service), importRoute(service)];
}

function exportRoute(service: ConversationService): Route {
  return get(`${PATH}/export`, {
    summary: 'Export one conversation, or all of yours, as JSON or markdown',
    description:
      'JSON holds everything, and can be imported again; markdown holds the branch that is shown. Without `id`: all but temporary ones. The file is ' +
      'sent while it is made: one that breaks off is not whole.',
    query: ExportQuery,
    responses: { 200: Type.String({ description: 'application/json or text/markdown' }) },
    errors: ['invalid_request', 'conversation_not_found'],
    handle: async ({ caller, query: { id, format = 'json' } }): Promise<Reply> => {
      const owner = ownerOf(caller);
      // An answer that has begun cannot become a 404.
      if (id !== undefined) await service.get(owner, id);
      const now = Date.now();
      const name = `conversations-${timeText(now).slice(0, 10)}.${KINDS[format].extension}`;
      const headers = { 'content-type': KINDS[format].type, 'content-disposition': `attachment; filename="${name}"` };
      const each = service.each(owner, id);
      const body = format === 'json' ? exportJson(service, owner, each, now) : exportMarkdown(service, owner, each);
      return { kind: 'stream', status: 200, headers, body };
    },
  });
}

function importRoute(service: ConversationService): Route {
  return post(`${PATH}/import`, {
    maxBody: MAX_IMPORT_BODY_BYTES,
    bodyKind: 'bytes',
    summary: 'Import conversations from a JSON file: an export of this server, of ChatGPT (conversations.json) or of Open WebUI',
    description:
      'The file is the body, and is read while it arrives. A conversation whose id you have already is skipped, so an import that broke off can be ' +
      'repeated. Each conversation is stored whole or not at all. Files and images that it names are not imported.',
    body: RawBody,
    answer: ImportResult,
    errors: ['invalid_import', 'too_many_conversations', 'conversation_quota_exceeded', 'storage_unavailable'],
    handle: ({ caller, body }) => service.import(ownerOf(caller), body),
  });
}
