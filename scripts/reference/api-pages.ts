/** Pages of the API: its routes with roles and scopes, and every error that they declare. */
import type { TSchema } from 'typebox';
import { errorsOf, ROUTELESS_ERRORS, scopeOf } from '../../ts/server/platform/http/docs/openapi.ts';
import { POLICIES } from '../../ts/server/platform/http/policy.ts';
import type { Route } from '../../ts/server/platform/http/route.ts';
import type { SchemaNode } from '../../ts/server/platform/schema/accepted.ts';
import { memberEffects } from '../../ts/server/platform/schema/member-effect.ts';
import { code, page, table } from './markdown.ts';

const GENERATED = 'This page is generated from the routes by `npm run format`.';

export function routesPage(routes: readonly Route[]): string {
  const groups = [...Map.groupBy(routes, ({ tag }) => tag)].sort(([a], [b]) => (a < b ? -1 : 1));
  const policies = Object.entries(POLICIES).map(([name, { meaning }]) => [code(name), meaning]);
  const sections = groups.map(([tag, of]) => {
    const rows = [...of].sort(byPath).map((route) => [code(`${route.method} ${route.path}`), ...accessOf(route), route.summary]);
    return `## ${tag}\n\n${table(['Route', 'Who', 'Scope', 'What it does'], rows)}`;
  });
  return page(
    '# Routes',
    'What a request and an answer hold is in `openapi.json`, which a node also answers at `/openapi.json`, and as a page at `/docs`.',
    GENERATED,
    table(['Who', 'Meaning'], policies),
    ...sections,
  );
}

/** Routes that clients of other APIs ask: what becomes of each member that these clients may send. */
export function membersPage(routes: readonly Route[]): string {
  const sections = routes
    .filter(({ path, errorBody }) => path.startsWith('/v1/') && errorBody !== undefined)
    .toSorted(byPath)
    .flatMap((route) => {
      const rows = [...rowsOf(route.query, 'query'), ...rowsOf(route.body, 'body'), ...rowsOf(route.requestHeaders, 'header')];
      if (rows.length === 0) return [];
      return [`## ${route.method} ${route.path}`, table(['Member', 'In', 'What becomes of it', 'More'], rows)];
    });
  return page(
    '# Members of requests',
    'What an unmodified client of OpenAI or Anthropic asks for is done, or refused with 400 `unsupported_member` and the name of the member. Where a\n' +
      'member is ignored, no answer depends on it. Values of a refused member that ask for nothing are taken. Members that stand nowhere here are\n' +
      'ignored too; `npm run check` compares this table with the types of the clients.',
    GENERATED,
    ...sections,
  );
}

function rowsOf(schema: TSchema | undefined, where: string): string[][] {
  if (schema === undefined) return [];
  return memberEffects(schema as unknown as SchemaNode).map(({ name, node, effect }) => {
    const { description } = node as { description?: string };
    return [code(name), where, effect, description ?? ''];
  });
}

function byPath(a: Route, b: Route): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.method < b.method ? -1 : 1;
}

const accessOf = (route: Route) => [code(route.auth), code(scopeOf(route) ?? '')];

/** @param guides Pages by hand: an error links to those that name its code. */
export function errorsPage(routes: readonly Route[], guides: ReadonlyMap<string, string>): string {
  const specs = [...routes.flatMap(errorsOf), ...ROUTELESS_ERRORS];
  const byCode = [...Map.groupBy(specs, (spec) => spec.code)].sort(([a], [b]) => (a < b ? -1 : 1));
  const rows = byCode.map(([name, of]) => [
    code(name),
    distinct(of.map(({ status }) => String(status)).sort(), ', '),
    distinct(of.map(({ meaning }) => meaning)),
    distinct(of.map(({ remedy }) => remedy)),
    guidesOf(name, guides).join(', '),
  ]);
  return page(
    '# Errors',
    'An error has a code to match on and a sentence for people. `/api/v1/*` answers `{"error": CODE, "detail": SENTENCE, "status": NUMBER}`; `/v1/*` answers\n' +
      "in the shape of OpenAI's or Anthropic's API. `x-request-id` names the request in the log. [Common problems](../operate/troubleshooting.md).",
    GENERATED,
    table(['Code', 'Status', 'When', 'What to do', 'More'], rows),
  );
}

const distinct = (texts: readonly string[], between = ' ') => [...new Set(texts)].filter((text) => text !== '').join(between);

function guidesOf(name: string, guides: ReadonlyMap<string, string>): string[] {
  const naming = [...guides].filter(([, text]) => text.includes(`\`${name}\``));
  return naming.map(([path]) => `[${path.replace(/\.md$/, '')}](../${path})`);
}
