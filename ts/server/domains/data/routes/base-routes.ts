/** Knowledge bases: list, make, remove, rebuild. */
import Type from 'typebox';
import { HttpError } from '../../../platform/http/errors.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { featureErrors } from '../../license/index.ts';
import type { Embedders } from '../../retrieval/index.ts';
import { knowledgeErrors } from '../errors.ts';
import type { KnowledgeAccess } from '../knowledge-access.ts';
import {
  BaseList,
  BaseParams,
  CreateBase,
  CreatedBase,
  LeftoverList,
  RebuiltBase,
  TenantParams,
  toBaseShape,
} from '../schemas.ts';
import type { KnowledgeService } from '../service.ts';

const path = '/api/v1/vector/namespaces/{tenant}';

const { get, post, put, patch, del } = routes({ tag: 'Knowledge bases', auth: 'developer', errors: knowledgeErrors });

export function baseRoutes(service: KnowledgeService, access: KnowledgeAccess, embedders: Embedders): Route[] {
  return [
    listRoute(service, access, embedders),
    createRoute(service, access, embedders),
    removeRoute(service, access),
    rebuildRoute(service, access),
    leftoverRoute(service, access),
    ...bareRoutes(),
  ];
}

function listRoute(service: KnowledgeService, access: KnowledgeAccess, embedders: Embedders): Route {
  return get(path, {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'Knowledge bases of the tenant',
    params: TenantParams,
    answer: BaseList,
    errors: ['forbidden', 'storage_unavailable'],
    handle: async ({ caller, params }) => {
      const bases = await access.usable(caller, await service.list(access.ownScope(caller, params.tenant)));
      const data = bases.map(async (base) => {
        const note = await embedders.staleNote(base);
        return { ...toBaseShape(base), ...(note === undefined ? {} : { note }) };
      });
      return { data: await Promise.all(data) };
    },
  });
}

function createRoute(service: KnowledgeService, access: KnowledgeAccess, embedders: Embedders): Route {
  return post(path, {
    scope: 'knowledge:write',
    maxBody: 16_384,
    summary: 'Make a knowledge base',
    description: 'The first document makes one too. Its embedding model is chosen here and never changes.',
    params: TenantParams,
    body: CreateBase,
    answer: CreatedBase,
    status: 201,
    errors: [
      'invalid_request',
      'forbidden',
      'namespace_not_found',
      'namespace_exists',
      'embedding_model_not_found',
      'too_many_knowledge_bases',
      'storage_unavailable',
      ...featureErrors,
    ],
    handle: async ({ caller, params, body }) => {
      access.requireAdding();
      const base = await service.create(
        await access.scopeFor(caller, params.tenant, body.namespace),
        body.namespace,
        body.embedding_model,
      );
      const note = body.embedding_model === undefined ? embedders.noteOn(base.embeddingModel) : undefined;
      return { ...toBaseShape(base), ...(note === undefined ? {} : { note }) };
    },
  });
}

function removeRoute(service: KnowledgeService, access: KnowledgeAccess): Route {
  return del(`${path}/{namespace}/documents`, {
    scope: 'knowledge:write',
    summary: 'Empty a knowledge base and remove it',
    params: BaseParams,
    answer: Type.Object({ namespace: Type.String(), deleted: Type.Boolean() }),
    errors: ['forbidden', 'namespace_not_found', 'storage_unavailable'],
    handle: async ({ caller, params: { tenant, namespace } }) => {
      await service.remove(await access.scopeFor(caller, tenant, namespace), namespace);
      return { namespace, deleted: true };
    },
  });
}

function rebuildRoute(service: KnowledgeService, access: KnowledgeAccess): Route {
  return post(`${path}/{namespace}/rebuild`, {
    scope: 'knowledge:write',
    maxBody: 1_024,
    bodyOptional: true,
    summary: 'Make the index of a knowledge base anew from what is stored, while the one that is there serves',
    description: 'Recordings and films that were added before there was a speech model are heard by jobs.',
    params: BaseParams,
    answer: RebuiltBase,
    errors: ['forbidden', 'namespace_not_found', 'index_unavailable', 'queue_full', 'storage_unavailable'],
    handle: async ({ caller, params: { tenant, namespace } }) => {
      const scope = await access.scopeFor(caller, tenant, namespace);
      const { base, isRebuilding } = await service.rebuild(scope, namespace, caller.subject);
      return { ...toBaseShape(base), rebuilding: isRebuilding };
    },
  });
}

function leftoverRoute(service: KnowledgeService, access: KnowledgeAccess): Route {
  return get(`${path}/{namespace}/shard-only`, {
    auth: 'admin',
    summary: 'Leftovers of earlier deletes, which no search finds',
    description: 'They are removed in the background; what stays for long was left behind by something else.',
    params: BaseParams,
    answer: LeftoverList,
    errors: ['forbidden', 'namespace_not_found', 'storage_unavailable'],
    handle: async ({ caller, params: { tenant, namespace } }) => {
      const leftovers = await service.listLeftovers(await access.scopeFor(caller, tenant, namespace), namespace);
      const data = leftovers.map(({ documentId, nChunks }) => ({
        document_id: documentId ?? null,
        chunks: nChunks,
        marker: documentId === undefined ? ('undecidable' as const) : ('deleted_likely' as const),
      }));
      return { data };
    },
  });
}

const NoMethod = named(
  'NoMethod',
  Type.Object(
    { error: Type.String(), detail: Type.String(), status: Type.Integer() },
    { description: '- `method_not_allowed`: The path serves no method.' },
  ),
);

/** The interface has the path of a base serve no method, which is another answer than that of a path that is not there. */
function bareRoutes(): Route[] {
  const bare = `${path}/{namespace}`;
  return [get, post, put, patch, del].map((declare) =>
    declare(bare, {
      auth: 'viewer',
      scope: 'knowledge:read',
      maxBody: declare === get || declare === del ? 0 : 1_024,
      bodyOptional: true,
      summary: 'Serves no method; see the paths below it',
      params: BaseParams,
      responses: { 405: NoMethod },
      handle: () => {
        const detail = `${bare} serves no method; ${bare}/documents lists documents, and DELETE there removes the knowledge base.`;
        throw new HttpError(405, 'method_not_allowed', detail, { headers: { allow: '' }, extra: { status: 405 } });
      },
    }),
  );
}
