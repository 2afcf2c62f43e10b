/** Dreams are asked for, listed and undone. */
import Type from 'typebox';
import { listOf, PageQuery, page, pageRead } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { named } from '../../platform/schema/named.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import { DREAM_STEPS } from './dream-plan.ts';
import { DREAM_STATES, type Dream } from './dream-store.ts';
import type { Dreams } from './dreams.ts';
import { memoryErrors } from './errors.ts';
import { TENANT } from './memory.ts';
import { ChangeShape, changeBody, iso, memoryErrorBody } from './schemas.ts';

const DREAMS = '/api/v1/memory/dreams';
const { get, post } = routes({
  tag: 'Memory',
  auth: 'viewer',
  scope: 'account:manage',
  errors: memoryErrors,
  errorBody: memoryErrorBody,
});

const DreamId = Type.String({ pattern: '^drm_[0-9a-f-]{36}$' });
const ChangeId = Type.String({ pattern: '^mch_[0-9a-f-]{36}$' });
const Step = Type.Enum([...DREAM_STEPS]);
const Params = Type.Object({ id: DreamId });

const Begin = Type.Object(
  {
    owner: Type.Optional(Type.Enum(['me', TENANT], { description: 'me by default.' })),
    steps: Type.Optional(
      Type.Array(Step, { minItems: 1, maxItems: DREAM_STEPS.length, description: 'All by default, in this order.' }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'Nothing is changed; the report says what would be.' })),
    max_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
    similarity: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'The least cosine of two memories that become one; 0.8 by default.' }),
    ),
    half_life_days: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: 36_500,
        description: 'Days after which what nobody recalls is half as strong; 90 by default.',
      }),
    ),
  },
  { additionalProperties: false },
);

const members = {
  id: DreamId,
  owner: Type.Enum(['me', TENANT]),
  state: Type.Enum([...DREAM_STATES]),
  dry_run: Type.Boolean(),
  steps: Type.Array(Step),
  began_at: Type.String({ format: 'date-time' }),
  ended_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  report: Type.Union([
    Type.Object({
      changed: Type.Record(Type.String(), Type.Integer(), {
        description: 'Changes by step; of a dry run, those that it would make.',
      }),
      skipped: Type.Array(Type.Object({ step: Step, reason: Type.String() })),
      slots: Type.Optional(Type.Integer({ description: 'How many slots were learned.' })),
      planned: Type.Optional(
        Type.Array(Type.Object({ memory: Type.String(), action: Type.String(), reason: Type.String(), score: Type.Number() })),
      ),
    }),
    Type.Null(),
  ]),
};

const DreamShape = named('Dream', Type.Object(members));
const DreamDetail = named(
  'DreamDetail',
  Type.Object({
    ...members,
    changes: Type.Array(
      Type.Object({ ...ChangeShape.properties, memory: Type.String(), score: Type.Number(), undone: Type.Boolean() }),
    ),
  }),
);

interface DreamRouteDeps {
  readonly dreams: Dreams;
  readonly recordAct: IdentityApi['recordAct'];
}

export function dreamRoutes({ dreams, recordAct }: DreamRouteDeps): Route[] {
  return [
    post('/api/v1/memory/dream', {
      summary: 'Have memories put in order',
      description:
        'A background job: duplicates become one, contradictions end the older statement’s validity, episodes become weekly summaries, what nobody recalls ' +
        'fades, and what has faded is archived. What is pinned, and what a person worded, is never touched. Every change can be undone.',
      body: Begin,
      answer: Type.Object({ dream_id: DreamId, job_id: Type.String() }),
      status: 202,
      errors: ['dream_running', 'tenant_memory_denied'],
      handle: async ({ caller, body }) => {
        const { dream, job } = await dreams.begin(caller, {
          isOfTenant: body.owner === TENANT,
          ...(body.steps && { steps: DREAM_STEPS.filter((step) => body.steps?.includes(step)) }),
          ...(body.dry_run !== undefined && { isDry: body.dry_run }),
          ...(body.max_seconds !== undefined && { maxSeconds: body.max_seconds }),
          ...(body.similarity !== undefined && { similarity: body.similarity }),
          ...(body.half_life_days !== undefined && { halfLifeDays: body.half_life_days }),
        });
        return { dream_id: dream.id, job_id: job.id };
      },
    }),
    get(DREAMS, {
      summary: 'Dreams about your memories and those of the tenant, newest first',
      query: PageQuery,
      answer: listOf(DreamShape),
      handle: async ({ caller, query }) => page(await dreams.list(caller, pageRead(query)), query.limit, dreamBody),
    }),
    get(`${DREAMS}/{id}`, {
      summary: 'A dream with its changes',
      params: Params,
      answer: DreamDetail,
      errors: ['dream_not_found'],
      handle: async ({ caller, params }) => {
        const { dream, changes } = await dreams.get(caller, params.id);
        const bodies = changes.map((change) => ({
          ...changeBody(change),
          memory: change.memoryId,
          score: change.score,
          undone: change.isUndone,
        }));
        return { ...dreamBody(dream), changes: bodies };
      },
    }),
    post(`${DREAMS}/{id}/undo`, {
      summary: 'Undo a dream, or some of its changes',
      description: 'A change whose memory was changed since, or forgotten, is `skipped`.',
      params: Params,
      body: Type.Object({ changes: Type.Optional(Type.Array(ChangeId, { maxItems: 100_000 })) }, { additionalProperties: false }),
      answer: Type.Object({ undone: Type.Array(ChangeId), skipped: Type.Array(ChangeId) }),
      errors: ['dream_not_found', 'dream_running', 'dream_undo_expired', 'invalid_request', 'tenant_memory_denied'],
      handle: async (context) => {
        const { caller, params, body } = context;
        const { undone, skipped } = await dreams.undo(caller, params.id, body.changes);
        const detail = { undone: undone.length, skipped: skipped.length };
        await recordAct(auditEntry(auditSource(context), { action: 'memory.dream_undo', target: params.id, detail }));
        return { undone, skipped };
      },
    }),
  ];
}

function dreamBody({ id, owner, state, request, report, beganAt, endedAt }: Dream) {
  const { skipped, planned, changed, slots } = report ?? { skipped: [], planned: undefined, changed: {}, slots: undefined };
  return {
    id,
    owner: owner === TENANT ? (TENANT as typeof TENANT) : ('me' as const),
    state,
    dry_run: request.isDry,
    steps: [...request.steps],
    began_at: iso(beganAt),
    ended_at: endedAt === undefined ? null : iso(endedAt),
    report:
      report === undefined
        ? null
        : {
            changed: { ...changed } as Record<string, number>,
            skipped: [...skipped],
            ...(slots !== undefined && { slots }),
            ...(planned && { planned: [...planned] }),
          },
  };
}
