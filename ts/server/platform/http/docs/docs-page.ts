/** The reference as one static page made from the OpenAPI document: no script, no network, light and dark. */

import { describeAccepted, type SchemaNode } from '../../schema/accepted.ts';
import { escapeHtml } from '../../text/escape-html.ts';
import { withoutReferences } from './shared-parts.ts';

interface Operation {
  tags: string[];
  summary: string;
  description: string;
  parameters?: { name: string; in: string; required: boolean; description?: string; schema: SchemaNode }[];
  requestBody?: { description: string; content: Record<string, { schema?: SchemaNode }> };
  responses: Record<string, { description: string; content?: Record<string, { schema?: SchemaNode }> }>;
}

interface Document {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
}

interface Entry {
  id: string;
  method: string;
  path: string;
  operation: Operation;
}

export function docsPage(openapi: Record<string, unknown>): string {
  const { info, paths } = withoutReferences(openapi) as unknown as Document;
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: anchor(method, path),
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const groups = [...Map.groupBy(entries, ({ operation }) => operation.tags[0] ?? 'Other')].sort(([a], [b]) => (a < b ? -1 : 1));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)} ${escapeHtml(info.version)}</title><style>${STYLE}</style></head>
<body><nav><strong>${escapeHtml(info.title)}</strong> <small>${escapeHtml(info.version)}</small>${groups.map(menu).join('')}
<p><a href="/openapi.json">openapi.json</a></p></nav>
<main><h1>${escapeHtml(info.title)}</h1>${paragraphs(info.description)}${groups.map(section).join('')}</main></body></html>
`;
}

function menu([tag, entries]: [string, Entry[]]): string {
  return `<h2>${escapeHtml(tag)}</h2><ul>${entries.map((e) => `<li><a href="#${e.id}">${badge(e.method)} ${escapeHtml(e.path)}</a></li>`).join('')}</ul>`;
}

function section([tag, entries]: [string, Entry[]]): string {
  return `<h2>${escapeHtml(tag)}</h2>${entries.map(article).join('')}`;
}

function article({ id, method, path, operation }: Entry): string {
  const { parameters = [], requestBody, responses } = operation;
  const rows = parameters.map((p) => row(p.name, p.required, `${p.in}: ${describeAccepted(p.schema)}`, p.description));
  return `<article id="${id}"><h3>${badge(method)} <code>${escapeHtml(path)}</code></h3><p>${escapeHtml(operation.summary)}</p>
${paragraphs(operation.description)}${rows.length > 0 ? `<h4>Parameters</h4>${table(rows)}` : ''}
${requestBody === undefined ? '' : `<h4>Body</h4><p>${escapeHtml(requestBody.description)}</p>${content(requestBody.content)}`}
<h4>Answers</h4>${Object.entries(responses).map(answer).join('')}</article>`;
}

function answer([status, response]: [string, Operation['responses'][string]]): string {
  const isRefusal = Number(status) >= 400;
  const detail = isRefusal ? '' : content(response.content ?? {});
  return `<details${isRefusal ? '' : ' open'}><summary><b class="s${status.charAt(0)}">${status}</b></summary>${list(response.description)}${detail}</details>`;
}

function content(types: Record<string, { schema?: SchemaNode }>): string {
  return Object.entries(types)
    .map(([type, { schema }]) => `<p><small>${escapeHtml(type)}</small></p>${schema === undefined ? '' : members(schema, 0)}`)
    .join('');
}

/** Members two levels deep; deeper ones are in openapi.json. */
function members(schema: SchemaNode, level: number): string {
  const properties = (schema['properties'] ?? {}) as Record<string, SchemaNode>;
  const required = new Set((schema['required'] ?? []) as string[]);
  const rows = Object.entries(properties).map(([name, node]) => {
    const inner = level < 2 ? members(itemOf(node), level + 1) : '';
    return row(name, required.has(name), describeAccepted(node), node['description'] as string | undefined, inner);
  });
  return rows.length === 0 ? '' : table(rows);
}

function itemOf(node: SchemaNode): SchemaNode {
  return node['type'] === 'array' && typeof node['items'] === 'object' ? (node['items'] as SchemaNode) : node;
}

function row(name: string, isRequired: boolean, accepted: string, description = '', inner = ''): string {
  const mark = isRequired ? ' <em>required</em>' : '';
  return `<tr><td><code>${escapeHtml(name)}</code>${mark}</td><td>${escapeHtml(accepted)}${description === '' ? '' : `<br>${escapeHtml(description)}`}${inner}</td></tr>`;
}

function table(rows: readonly string[]): string {
  return `<table>${rows.join('')}</table>`;
}

function list(description: string): string {
  const lines = description.split('\n');
  if (!lines.every((line) => line.startsWith('- '))) return `<p>${escapeHtml(description)}</p>`;
  return `<ul>${lines.map((line) => `<li>${code(escapeHtml(line.slice(2)))}</li>`).join('')}</ul>`;
}

function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((part) => `<p>${code(escapeHtml(part))}</p>`)
    .join('');
}

function code(escaped: string): string {
  return escaped.replace(/`([^`]+)`/g, '<code>$1</code>');
}

function badge(method: string): string {
  return `<b class="m ${method}">${method}</b>`;
}

function anchor(method: string, path: string): string {
  return `${method}${path.replace(/[^A-Za-z0-9]+/g, '-')}`;
}

const STYLE = `:root{color-scheme:light dark;--ink:light-dark(#1b1f24,#e3e7ec);--soft:light-dark(#5a6572,#9aa6b3);--line:light-dark(#dfe4ea,#30363d);
--bg:light-dark(#fff,#14171b);--tint:light-dark(#f5f7f9,#1c2127);--link:light-dark(#0b5cad,#6cb2ff)}
*{box-sizing:border-box}body{margin:0;display:grid;grid-template-columns:minmax(15rem,20rem) 1fr;background:var(--bg);color:var(--ink);
font:15px/1.55 system-ui,sans-serif}nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.2rem;border-right:1px solid var(--line);font-size:13px}
nav h2{font-size:12px;text-transform:uppercase;letter-spacing:.06em;color:var(--soft);margin:1.2rem 0 .3rem}nav ul{list-style:none;margin:0;padding:0}
nav li{overflow-wrap:anywhere;padding:.12rem 0}a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
main{padding:1.5rem clamp(1rem,4vw,3rem);max-width:62rem}article{border-top:1px solid var(--line);padding:1rem 0 1.4rem;scroll-margin-top:1rem}
h3{font-size:1.05rem;margin:.2rem 0}h4{margin:1rem 0 .3rem;color:var(--soft);font-size:.85rem}code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;background:var(--tint);margin:.3rem 0}td{border:1px solid var(--line);padding:.3rem .6rem;vertical-align:top}
td:first-child{width:14rem}em{color:var(--soft);font-size:12px}summary{cursor:pointer}.m{font:600 11px ui-monospace,monospace}
.GET{color:light-dark(#1a7f37,#56d364)}.POST{color:light-dark(#0b5cad,#6cb2ff)}.PUT,.PATCH{color:light-dark(#9a6700,#e3b341)}.DELETE{color:light-dark(#cf222e,#ff7b72)}
.s4,.s5{color:light-dark(#cf222e,#ff7b72)}.s2{color:light-dark(#1a7f37,#56d364)}
@media(max-width:50rem){body{display:block}nav{position:static;height:auto;border-right:0}td:first-child{width:auto}}`;
