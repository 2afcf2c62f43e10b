/** Memories are listed, added, corrected, searched and forgotten. */
import { page, pageRead } from '../../platform/http/page.ts';
import { type Principal, scopeOf } from '../../platform/http/principal.ts';
import type { RequestContext, Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import { retrievalErrors } from '../retrieval/index.ts';
import { type SecurityApi, toolCallErrors } from '../security/index.ts';
import { memoryError, memoryErrors } from './errors.ts';
import type { Extractions } from './extraction/extractions.ts';
import type { MemoryFiles } from './files/memory-files.ts';
import { accountOwner, type MemoryState, type Origin, ownerOf, TENANT } from './memory.ts';
import { READ_FACTOR, RECALLED, recalledOf } from './recall.ts';
import type { RecallPreferences } from './recall-preferences.ts';
import {
  ChangeMemory,
  CreateMemory,
  changeBody,
  Forgotten,
  ListQuery,
  MemoryDetail,
  MemoryHits,
  MemoryList,
  MemoryParams,
  MemorySettings,
  MemoryShape,
  memoryBody,
  memoryErrorBody,
  OwnerQuery,
  SearchMemories,
} from './schemas.ts';
import { DEFAULT_MAX, type MemoryService } from './service.ts';

interface MemoryRouteDeps {
  readonly service: MemoryService;
  readonly files: Pick<MemoryFiles, 'holders'>;
  readonly preferences: RecallPreferences;
  readonly extractions: Pick<Extractions, 'isOn' | 'set'>;
  readonly security: Pick<SecurityApi, 'requireToolCall'>;
  readonly recordAct: IdentityApi['recordAct'];
  readonly now: () => number;
}

const MEMORIES = '/api/v1/memory/memories';
const SETTINGS = '/api/v1/memory/settings';
const shared = { tag: 'Memory', scope: 'account:manage', errors: memoryErrors, errorBody: memoryErrorBody } as const;
const { get, post, patch, put, del } = routes({ ...shared, auth: 'viewer' });
const managed = routes({ ...shared, auth: 'admin' });

export function memoryRoutes(deps: MemoryRouteDeps): Route[] {
  return [listRoute(deps), addRoute(deps), searchRoute(deps), ...oneRoutes(deps), forgetAllRoute(deps), ...settingRoutes(deps)];
}

function listRoute({ service }: MemoryRouteDeps): Route {
  return get(MEMORIES, {
    summary: 'Your memories and those of the tenant, newest first',
    query: ListQuery,
    answer: MemoryList,
    handle: async ({ caller, query }) => {
      const states: MemoryState[] = query.include === undefined ? ['current'] : ['current', query.include];
      return page(await service.list(caller, { states, ...pageRead(query) }), query.limit, memoryBody);
    },
  });
}

function addRoute({ service, recordAct, now }: MemoryRouteDeps): Route {
  return post(MEMORIES, {
    summary: 'Remember something',
    description:
      'What is remembered in the same words already is strengthened, and answered as it is. Of two statements about the same subject and attribute ' +
      '(“lives in”, “my favourite colour is”) the one that holds later is current, and the other is kept as superseded by it. A text that says since ' +
      'when it holds (“yesterday”, “since 2021”) is valid from then.',
    body: CreateMemory,
    answer: MemoryShape,
    status: 201,
    errors: ['memory_is_secret', 'memories_full', 'tenant_memory_denied', ...retrievalErrors.all],
    handle: async (context) => {
      const { caller, body, signal } = context;
      const { text, kind = 'fact', subject, owner = 'me', valid_from: from } = body;
      const origin: Origin = {
        type: body.message_id === undefined && body.conversation_id === undefined ? 'api' : 'conversation',
        at: now(),
        ...(body.conversation_id !== undefined && { conversationId: body.conversation_id }),
        ...(body.message_id !== undefined && { messageId: body.message_id }),
      };
      const isOfTenant = owner === TENANT;
      const draft = { text: text.trim(), kind, subject, isOfTenant, validFrom: timeOf(from), origin };
      const memory = await service.add(caller, draft, signal);
      if (isOfTenant) await record(recordAct, context, 'memory.add', memory.id);
      return memoryBody(memory);
    },
  });
}

function searchRoute({ service }: MemoryRouteDeps): Route {
  return post(`${MEMORIES}/search`, {
    summary: 'Search your memories and those of the tenant, by words and by meaning',
    description:
      'The best first. Only what holds now is found. With `recall`, only what a chat would recall for the query: what is about it surely enough, each once.',
    body: SearchMemories,
    answer: MemoryHits,
    errors: [...retrievalErrors.all],
    handle: async ({ caller, body: { query, recall: isRecall = false, max = isRecall ? RECALLED : DEFAULT_MAX }, signal }) => {
      const hits = await service.search(caller, { text: query, max: isRecall ? max * READ_FACTOR : max, signal });
      const about = isRecall ? recalledOf(query, hits, max) : hits.filter(({ relevance }) => relevance > 0);
      return { data: about.map(({ memory, relevance }) => ({ ...memoryBody(memory), score: relevance })) };
    },
  });
}

function oneRoutes({ service, files, recordAct }: MemoryRouteDeps): Route[] {
  const path = `${MEMORIES}/{id}`;
  return [
    get(path, {
      summary: 'A memory with its history',
      params: MemoryParams,
      answer: MemoryDetail,
      errors: ['memory_not_found'],
      handle: async ({ caller, params }) => {
        const { memory, history } = await service.get(caller, params.id);
        return { ...memoryBody(memory), history: history.map(changeBody) };
      },
    }),
    patch(path, {
      summary: 'Correct a memory, or pin it',
      description: 'A dream touches neither what is pinned nor what a person worded.',
      params: MemoryParams,
      body: ChangeMemory,
      answer: MemoryShape,
      errors: [
        'invalid_request',
        'memory_not_found',
        'memory_changed',
        'memory_is_secret',
        'tenant_memory_denied',
        ...retrievalErrors.all,
      ],
      handle: async (context) => {
        const { caller, params, body, signal } = context;
        const { text, kind, subject, pinned: isPinned } = body;
        const validTo = body.valid_to === null ? null : timeOf(body.valid_to);
        const wanted = { text: text?.trim(), kind, subject, isPinned, validFrom: timeOf(body.valid_from), validTo };
        const memory = await service.change(caller, params.id, wanted, signal);
        if (memory.owner === TENANT) await record(recordAct, context, 'memory.change', memory.id);
        return memoryBody(memory);
      },
    }),
    del(path, {
      summary: 'Forget a memory',
      description: 'Its text, its vector and its terms are erased, with those of memories that say the same.',
      params: MemoryParams,
      answer: Forgotten,
      status: 200,
      errors: ['memory_not_found', 'tenant_memory_denied'],
      handle: async (context) => {
        const { caller, params, signal } = context;
        const { owner, ids } = await service.forget(caller, params.id);
        await record(recordAct, context, 'memory.forget', params.id);
        return forgottenBody(ids, await files.holders(scopeOf(caller), owner, ids, signal));
      },
    }),
  ];
}

function forgetAllRoute({ service, files, security, recordAct }: MemoryRouteDeps): Route {
  return managed.del(MEMORIES, {
    summary: 'Forget all memories of an account, or of the tenant',
    description: 'People forget their own by their ids.',
    query: OwnerQuery,
    answer: Forgotten,
    status: 200,
    errors: [...toolCallErrors],
    handle: async (context) => {
      const { caller, query } = context;
      security.requireToolCall(caller, 'memory.delete_all');
      const owner = ownerNamed(query.owner);
      const { ids } = await service.forgetAll(caller, owner);
      await record(recordAct, context, 'memory.delete_all', owner, { deleted: ids.length });
      return forgottenBody(ids, await files.holders(scopeOf(caller), owner, ids, context.signal));
    },
  });
}

/** The memories are gone, whatever becomes of the look at the files. */
function forgottenBody(ids: readonly string[], files: readonly string[] | undefined) {
  return { deleted: ids.length, files: files ?? [], ...(files === undefined && { files_unread: true as const }) };
}

function settingRoutes({ preferences, extractions }: MemoryRouteDeps): Route[] {
  const settingsOf = async (caller: Principal) => ({
    recall: switched(await preferences.recalls(scopeOf(caller), ownerOf(caller))),
    extract: switched(await extractions.isOn(scopeOf(caller), ownerOf(caller))),
  });
  return [
    get(SETTINGS, {
      summary: 'What your account wants of its memory',
      answer: MemorySettings,
      handle: async ({ caller }) => await settingsOf(caller),
    }),
    put(SETTINGS, {
      summary: 'Say what your account wants of its memory',
      body: MemorySettings,
      answer: MemorySettings,
      errors: ['invalid_request'],
      handle: async ({ caller, body }) => {
        if (body.extract !== undefined) await extractions.set(caller, body.extract === 'on');
        await preferences.set(scopeOf(caller), ownerOf(caller), body.recall === 'on');
        return await settingsOf(caller);
      },
    }),
  ];
}

function switched(isOn: boolean): 'on' | 'off' {
  return isOn ? 'on' : 'off';
}

function ownerNamed(given: string): string {
  return given === TENANT || given === 'anonymous' || given.includes(':') ? given : accountOwner(given);
}

/** The audit log has no text of a memory. */
async function record(
  recordAct: IdentityApi['recordAct'],
  context: RequestContext,
  action: string,
  target: string,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await recordAct(auditEntry(auditSource(context), { action, target, detail }));
}

const EARLIEST = Date.UTC(1, 0, 1);

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isFinite(at) && at >= EARLIEST) return at;
  throw memoryError('invalid_request', `${text} is no date that can be kept.`);
}
