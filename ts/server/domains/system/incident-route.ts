/** What is, and was, wrong with this node, with what to do about it. */
import Type from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { named } from '../../platform/schema/named.ts';
import type { Incident } from './incident-log.ts';
import { remedyOf } from './remedies.ts';

const Time = Type.String({ description: 'ISO 8601, UTC.' });
const IncidentShape = named(
  'Incident',
  Type.Object({
    code: Type.String({ description: 'As in the reasons of GET /health.' }),
    detail: Type.String(),
    remedy: Type.Union([Type.String(), Type.Null()]),
    since: Time,
    ended_at: Type.Union([Time, Type.Null()], { description: 'null: it lasts.' }),
  }),
);

const { get } = routes({ tag: 'System', auth: 'local' });

/** `incidents`: looks anew, so that what has just begun is in it. */
export function incidentRoute(incidents: () => Promise<Incident[]>): Route {
  return get('/api/v1/system/incidents', {
    summary: 'What is wrong with this node, and what was since its start, with what to do about it',
    answer: Type.Object({ incidents: Type.Array(IncidentShape) }),
    handle: async () => {
      const iso = (ms: number): string => new Date(ms).toISOString();
      const body = (await incidents()).map(({ code, detail, since, endedAt }) => ({
        code,
        detail,
        remedy: remedyOf(code) ?? null,
        since: iso(since),
        ended_at: endedAt === undefined ? null : iso(endedAt),
      }));
      return { incidents: body };
    },
  });
}
