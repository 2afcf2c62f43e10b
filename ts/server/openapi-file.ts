/** `node ts/server/openapi-file.ts [--check]`: writes openapi.json, or fails when it is not what the routes say. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from './main.ts';
import { INSTALL_ROOT } from './product.ts';
import { loadNodeConfig } from './settings.ts';

const path = join(INSTALL_ROOT, 'openapi.json');
// Nothing is opened or read: the document depends on the code alone.
const server = await createServer(loadNodeConfig({ root: INSTALL_ROOT, environment: {} }));
const text = `${JSON.stringify(server.openapi, undefined, 2)}\n`;

if (!process.argv.includes('--check')) writeFileSync(path, text);
else if (readFileSync(path, 'utf8') !== text) {
  console.error('openapi.json is not what the routes say: run `node ts/server/openapi-file.ts` and commit it');
  process.exitCode = 1;
}
