/** How the router does. */
import Type from 'typebox';
import { scopeOf } from '../../platform/http/principal.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { memoryErrors } from './errors.ts';
import { ROUTER_MODES, type Router } from './router/router.ts';
import { memoryErrorBody } from './schemas.ts';

const { get } = routes({
  tag: 'Router',
  scope: 'account:manage',
  errors: memoryErrors,
  errorBody: memoryErrorBody,
  auth: 'viewer',
});

const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export function routerRoutes(router: Pick<Router, 'status'>): Route[] {
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
        const { mode, decisions, regret } = await router.status(scopeOf(caller));
        return { loaded: false, file: null, source: 'none' as const, mode, decisions, accuracy: null, floor: null, regret };
      },
    }),
  ];
}
