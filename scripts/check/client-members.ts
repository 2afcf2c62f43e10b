/**
 * Every member that an unmodified client may send stands in a table, which is the schema of the route: what is in the client's types and in no
 * schema would be dropped behind an answer.
 */
import type ts from 'typescript';
import type { Route } from '../../ts/server/platform/http/route.ts';
import type { SchemaNode } from '../../ts/server/platform/schema/accepted.ts';
import { memberEffects } from '../../ts/server/platform/schema/member-effect.ts';
import { ClientTypes, type TypeName } from './client-types.ts';

type Requests = readonly [route: string, type: TypeName][];

const openai = (file: string, name: string): TypeName => ['openai', file, name];
const anthropic = (file: string, name: string): TypeName => ['@anthropic-ai/sdk', file, name];
const store = '/v1/vector_stores/{vector_store_id}';

const requestTypes: Requests = [
  ['POST /v1/chat/completions', openai('chat/completions/completions', 'ChatCompletionCreateParamsNonStreaming')],
  ['POST /v1/responses', openai('responses/responses', 'ResponseCreateParamsNonStreaming')],
  ['GET /v1/responses/{id}', openai('responses/responses', 'ResponseRetrieveParamsNonStreaming')],
  ['GET /v1/responses/{id}/input_items', openai('responses/input-items', 'InputItemListParams')],
  ['POST /v1/embeddings', openai('embeddings', 'EmbeddingCreateParams')],
  ['POST /v1/files', openai('files', 'FileCreateParams')],
  ['GET /v1/files', openai('files', 'FileListParams')],
  ['POST /v1/vector_stores', openai('vector-stores/vector-stores', 'VectorStoreCreateParams')],
  ['GET /v1/vector_stores', openai('vector-stores/vector-stores', 'VectorStoreListParams')],
  [`POST ${store}`, openai('vector-stores/vector-stores', 'VectorStoreUpdateParams')],
  [`POST ${store}/search`, openai('vector-stores/vector-stores', 'VectorStoreSearchParams')],
  [`POST ${store}/files`, openai('vector-stores/files', 'FileCreateParams')],
  [`GET ${store}/files`, openai('vector-stores/files', 'FileListParams')],
  [`POST ${store}/files/{file_id}`, openai('vector-stores/files', 'FileUpdateParams')],
  [`POST ${store}/file_batches`, openai('vector-stores/file-batches', 'FileBatchCreateParams')],
  [`GET ${store}/file_batches/{batch_id}/files`, openai('vector-stores/file-batches', 'FileBatchListFilesParams')],
  ['POST /v1/messages', anthropic('messages/messages', 'MessageCreateParamsNonStreaming')],
  ['POST /v1/messages', anthropic('beta/messages/messages', 'MessageCreateParamsNonStreaming')],
  ['POST /v1/messages/count_tokens', anthropic('messages/messages', 'MessageCountTokensParams')],
  ['POST /v1/messages/count_tokens', anthropic('beta/messages/messages', 'MessageCountTokensParams')],
  ['GET /v1/models', anthropic('models', 'ModelListParams')],
  ['GET /v1/models', anthropic('beta/models', 'ModelListParams')],
];

/** What the clients send as headers, by the name that their types have for it. */
const headerOf: Readonly<Record<string, string>> = {
  betas: 'anthropic-beta',
  user_profile_id: 'anthropic-user-profile-id',
  workspace_id: 'anthropic-workspace-id',
};

interface MemberReport {
  nMembers: number;
  problems: string[];
}

/** @param root absolute path of the repository. */
export function checkClientMembers(root: string, routes: readonly Route[]): MemberReport {
  const types = new ClientTypes(
    root,
    requestTypes.map(([, type]) => type),
  );
  const report: MemberReport = { nMembers: 0, problems: [] };
  for (const [name, type] of requestTypes) {
    const route = routes.find(({ method, path }) => `${method} ${path}` === name);
    if (route === undefined) report.problems.push(`there is no route ${name}`);
    else compare(types, types.get(type), tableOf(route), `${name} (${type[2]} of ${type[0]}): `, report);
  }
  return report;
}

function tableOf({ path, params, query, body, requestHeaders }: Route): Record<string, SchemaNode> {
  const of = (schema: unknown) => ((schema as SchemaNode | undefined)?.['properties'] ?? {}) as Record<string, SchemaNode>;
  const inPath = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, {}]));
  return { ...inPath, ...of(params), ...of(requestHeaders), ...of(query), ...of(body) };
}

function compare(types: ClientTypes, type: ts.Type, table: Record<string, SchemaNode>, at: string, report: MemberReport): void {
  for (const { name, type: of } of types.members(type)) {
    report.nMembers++;
    // Forms write the members of an object one by one: expires_after[anchor].
    const isInForm = Object.keys(table).some((key) => key.startsWith(`${name}[`));
    const node = table[name] ?? table[headerOf[name] ?? ''];
    if (node === undefined) {
      if (!isInForm) report.problems.push(`${at}${name} is in no table`);
      continue;
    }
    const inner = Object.fromEntries(memberEffects(node).map((member) => [member.name, member.node]));
    if (Object.keys(inner).length > 0 && types.isPlainObject(of)) compare(types, of, inner, `${at}${name}.`, report);
  }
}
