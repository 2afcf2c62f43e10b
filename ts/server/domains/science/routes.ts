/** Sources by category, requests for them, and queries. Single tools are executed below the same path by the module edge. */
import { listOf, PageQuery, page, pageRead } from '../../platform/http/page.ts';
import { hasRole, scopeOf } from '../../platform/http/principal.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { CATEGORIES } from '../../platform/module/module-names.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import { featureErrors } from '../license/index.ts';
import { type SecurityApi, toolCallErrors } from '../security/index.ts';
import { scienceError, scienceErrors } from './errors.ts';
import {
  CategoryList,
  ChangeSource,
  QueryAnswer,
  RequestMade,
  RequestParams,
  RequestShape,
  RequestSource,
  requestBody,
  SourceList,
  SourceParams,
  SourceShape,
  sourceBody,
  ToolShapeList,
} from './schemas.ts';
import { ownerOf, type ScienceService } from './service.ts';
import type { SourceStore } from './source-store.ts';
import { QuerySchema, type ScienceTools } from './tools.ts';

interface ScienceRouteDeps {
  readonly service: ScienceService;
  readonly store: SourceStore;
  readonly tools: ScienceTools;
  readonly security: Pick<SecurityApi, 'requireToolCall'>;
  readonly recordAct: IdentityApi['recordAct'];
  readonly now: () => number;
}

const SOURCES = '/api/v1/science/sources';
const { get, post } = routes({ tag: 'Science', auth: 'viewer', scope: 'tools:use', errors: scienceErrors });
const managed = routes({ tag: 'Science', auth: 'admin', scope: 'tools:manage', errors: scienceErrors });

export function scienceRoutes(deps: ScienceRouteDeps): Route[] {
  return [...listRoutes(deps), ...requestRoutes(deps), changeRoute(deps), queryRoute(deps)];
}

function listRoutes({ service, tools }: ScienceRouteDeps): Route[] {
  return [
    get(SOURCES, {
      summary: 'Scientific sources that the caller may use or ask for',
      answer: SourceList,
      handle: async ({ caller }) => ({ data: (await service.list(caller)).map(sourceBody) }),
    }),
    get(`${SOURCES}/categories`, {
      summary: 'Categories of scientific sources',
      answer: CategoryList,
      handle: async ({ caller }) => {
        const listed = await service.list(caller);
        return {
          data: CATEGORIES.map((category) => {
            const within = listed.filter(({ adapter }) => adapter.category === category);
            return { category, sources: within.length, enabled: within.filter(({ isEnabled }) => isEnabled).length };
          }),
        };
      },
    }),
    ...CATEGORIES.map((category) =>
      get(`/api/v1/${category}/sources`, {
        summary: `Scientific sources of the category ${category}`,
        answer: SourceList,
        handle: async ({ caller }) => ({
          data: (await service.list(caller)).filter(({ adapter }) => adapter.category === category).map(sourceBody),
        }),
      }),
    ),
    get('/api/v1/science/tools', {
      summary: 'Operations of scientific sources, as tools',
      answer: ToolShapeList,
      handle: async ({ caller }) => ({
        data: (await service.list(caller)).flatMap(({ adapter, isEnabled }) =>
          tools.toolsOf(adapter).map(({ name, description, input }) => ({
            name,
            description,
            source: adapter.id,
            enabled: isEnabled,
            input_schema: input,
          })),
        ),
      }),
    }),
  ];
}

function requestRoutes({ service, store, recordAct, now }: ScienceRouteDeps): Route[] {
  return [
    post(`${SOURCES}/request`, {
      summary: 'Ask for a source that is not enabled',
      body: RequestSource,
      answer: RequestMade,
      status: 202,
      errors: ['source_not_found'],
      handle: async (context) => {
        const { caller, body } = context;
        const { id, source, state } = await service.request(caller, body.source_id, body.reason);
        await recordAct(auditEntry(auditSource(context), { action: 'science.request', target: source, detail: { request: id } }));
        return { request_id: id, state };
      },
    }),
    get(`${SOURCES}/requests`, {
      summary: 'Requests for sources, newest first',
      description: 'Your own; for administrators all of the tenant.',
      query: PageQuery,
      answer: listOf(RequestShape),
      handle: async ({ caller, query }) => {
        const owner = hasRole(caller, 'admin') || caller.kind === 'anonymous' ? undefined : ownerOf(caller);
        return page(await store.requests(scopeOf(caller), owner, pageRead(query)), query.limit, requestBody);
      },
    }),
    managed.del(`${SOURCES}/requests/{id}`, {
      summary: 'Decline a request for a source',
      params: RequestParams,
      errors: ['request_not_found'],
      handle: async (context) => {
        const { caller, params } = context;
        if (!(await store.decline(scopeOf(caller), params.id, now())))
          throw scienceError('request_not_found', `No request ${params.id} waits.`);
        await recordAct(auditEntry(auditSource(context), { action: 'science.decline', target: params.id }));
      },
    }),
  ];
}

function changeRoute({ service, recordAct }: ScienceRouteDeps): Route {
  return managed.patch(`${SOURCES}/{id}`, {
    summary: 'Enable or disable a source for the tenant, and set its key',
    description: 'Requests that wait for the source are answered with it.',
    params: SourceParams,
    body: ChangeSource,
    answer: SourceShape,
    errors: ['invalid_request', 'source_not_found', 'source_needs_key', ...featureErrors],
    handle: async (context) => {
      const { caller, params, body } = context;
      const changed = await service.change(caller, params.id, body);
      const detail = { enabled: changed.isEnabled, key_changed: body.key !== undefined };
      await recordAct(auditEntry(auditSource(context), { action: 'science.source', target: params.id, detail }));
      return sourceBody(changed);
    },
  });
}

function queryRoute({ service, security, recordAct }: ScienceRouteDeps): Route {
  return post('/api/v1/science/query', {
    summary: 'Search several sources at once',
    description:
      'Each source answers or fails for itself: `failures` names those that did not answer. Records have one form, and `raw` has what the sources sent.',
    body: QuerySchema,
    answer: QueryAnswer,
    errors: ['source_not_found', 'no_source_enabled', ...toolCallErrors],
    handle: async (context) => {
      const { caller, body, signal } = context;
      security.requireToolCall(caller, 'science.query');
      const found = await service.query(caller, body, signal);
      const detail = {
        sources: Object.keys(found.raw),
        records: found.records.length,
        failed: found.failures.map(({ source }) => source),
      };
      await recordAct(auditEntry(auditSource(context), { action: 'science.query', detail }));
      return found;
    },
  });
}
