/** The reference, for programs and for people. */
import Type from 'typebox';
import type { Reply, Route } from '../route.ts';
import { routes as routesOf } from '../route-group.ts';
import { docsPage } from './docs-page.ts';
import { type ApiInfo, openapiDocument } from './openapi.ts';

const { get } = routesOf({ tag: 'System', auth: 'open' });

const HTML_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
};

/** The given routes and these two, which describe all of them; what they answer is written when it is first asked for. */
export function withDocs(routes: readonly Route[], info: ApiInfo): { routes: Route[]; document: () => Record<string, unknown> } {
  const all: Route[] = [...routes];
  const document = once(() => openapiDocument(all, info));
  const json = once(() => JSON.stringify(document()));
  const html = once(() => docsPage(document()));
  all.push(
    textRoute('/openapi.json', 'This reference as an OpenAPI 3.1 document', Type.Object({}), () => ({
      kind: 'bytes',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: json(),
    })),
    textRoute('/docs', 'This reference as a page', Type.String({ description: 'HTML.' }), () => ({
      kind: 'bytes',
      status: 200,
      headers: HTML_HEADERS,
      body: html(),
    })),
  );
  return { routes: all, document };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function textRoute(
  path: string,
  summary: string,
  schema: ReturnType<typeof Type.Object> | ReturnType<typeof Type.String>,
  handle: () => Reply,
): Route {
  return get(path, { summary, responses: { 200: schema }, handle });
}
