/** The reference, for programs and for people. */
import Type from 'typebox';
import { type Reply, type Route, route } from '../route.ts';
import { docsPage } from './docs-page.ts';
import { type ApiInfo, openapiDocument } from './openapi.ts';

const HTML_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
};

/** The given routes and these two, which describe all of them. */
export function withDocs(routes: readonly Route[], info: ApiInfo): { routes: Route[]; document: Record<string, unknown> } {
  const all: Route[] = [...routes];
  const texts: { json: string; html: string } = { json: '', html: '' };
  all.push(
    textRoute('/openapi.json', 'This reference as an OpenAPI 3.1 document', Type.Object({}), () => ({
      kind: 'bytes',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: texts.json,
    })),
    textRoute('/docs', 'This reference as a page', Type.String({ description: 'HTML.' }), () => ({
      kind: 'bytes',
      status: 200,
      headers: HTML_HEADERS,
      body: texts.html,
    })),
  );
  const document = openapiDocument(all, info);
  texts.json = JSON.stringify(document);
  texts.html = docsPage(document);
  return { routes: all, document };
}

function textRoute(
  path: string,
  summary: string,
  schema: ReturnType<typeof Type.Object> | ReturnType<typeof Type.String>,
  handle: () => Reply,
): Route {
  return route({ method: 'GET', path, auth: 'open', maxBody: 0, tag: 'System', summary, responses: { 200: schema }, handle });
}
