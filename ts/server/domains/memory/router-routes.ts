/** How the router does. */
import Type from 'typebox';
import { scopeOf } from '../../platform/http/principal.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import { memoryErrors } from './errors.ts';
import type { RouteLearning } from './router/route-learning.ts';
import { ROUTER_MODES, type Router } from './router/router.ts';
import { memoryErrorBody } from './schemas.ts';

const shared = { tag: 'Router', scope: 'account:manage', errors: memoryErrors, errorBody: memoryErrorBody } as const;
const { get } = routes({ ...shared, auth: 'viewer' });
const managed = routes({ ...shared, auth: 'developer' });

const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

interface RouterRouteDeps {
  readonly router: Pick<Router, 'status'>;
  readonly learning: Pick<RouteLearning, 'begin'>;
  readonly recordAct: IdentityApi['recordAct'];
}

export function routerRoutes({ router, learning, recordAct }: RouterRouteDeps): Route[] {
  return [
    get('/api/v1/router-xlstm/status', {
      summary: 'How well models and knowledge bases are chosen',
      description:
        'Of the choices for `model: "auto"` and `knowledge: ["auto"]` in the tenant. A rule chooses; what was learned from the traffic of the tenant does so ' +
        'only with `memory.router` on, and while it does better on traffic later than what it learned from.',
      answer: Type.Object({
        loaded: Type.Boolean({ description: 'Something was learned, and is compared with the rule.' }),
        file: nullable(Type.String({ description: 'The memory file that holds it.' })),
        source: Type.Enum(['pinned', 'tenant', 'none']),
        mode: Type.Enum([...ROUTER_MODES]),
        decisions: Type.Integer({ description: 'Choices between several, of the last 90 days.' }),
        accuracy: nullable(Type.Number({ description: 'Share of the later traffic for which what was learned chooses right.' })),
        floor: nullable(Type.Number({ description: 'The same of the rule.' })),
        regret: Type.Integer({
          description: 'Choices that proved wrong: the person had another one answer, or no citation of the answer held.',
        }),
      }),
      handle: async ({ caller }) => {
        const { mode, decisions, regret, isLoaded, file, source, accuracy, floor } = await router.status(scopeOf(caller));
        const shares = { accuracy: accuracy ?? null, floor: floor ?? null };
        return { loaded: isLoaded, file: file ?? null, source: source ?? ('none' as const), mode, decisions, ...shares, regret };
      },
    }),
    managed.post('/api/v1/router-xlstm/learn', {
      summary: 'Have the router judged and taught',
      description:
        'A background job, which also begins by itself after a hundred choices. What people did says which choices were right: an answer that was made again ' +
        'with another model or knowledge base, and citations. An xLSTM learns from the first four fifths in time; its result has the shares of right choices ' +
        'on the last fifth beside those of the rule (`later`), and the same for a fifth drawn at random (`random`).',
      body: Type.Object({}, { additionalProperties: false }),
      answer: Type.Object({ job_id: Type.String() }),
      status: 202,
      handle: async (context) => {
        const job = await learning.begin(context.caller);
        await recordAct(auditEntry(auditSource(context), { action: 'memory.router', target: job.id }));
        return { job_id: job.id };
      },
    }),
  ];
}
