/** `node ts/server/openapi-file.ts [--check]`: writes openapi.json, or fails when it is not what the routes say. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from './main.ts';
import { INSTALL_ROOT } from './product.ts';
import { loadNodeConfig } from './settings.ts';

const path = join(INSTALL_ROOT, 'openapi.json');
// Nothing is opened or read: the document depends on the code alone.
const server = await createServer(loadNodeConfig({ root: INSTALL_ROOT, environment: {} }));
const text = `${lines(server.openapi, '')}\n`;

if (!process.argv.includes('--check')) writeFileSync(path, text);
else if (readFileSync(path, 'utf8') !== text) {
  console.error('openapi.json is not what the routes say: run `node ts/server/openapi-file.ts` and commit it');
  process.exitCode = 1;
}

/** JSON with one line for each part that fits on one, which reviews well and is a third of what an indented document takes. */
function lines(value: unknown, indent: string): string {
  const flat = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + flat.length <= 120) return flat;
  const inner = `${indent} `;
  const parts = Array.isArray(value)
    ? value.map((item) => lines(item, inner))
    : Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${lines(member, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(',\n')}\n${indent}${close}`;
}
