// node scripts/web/route-types-file.ts [--check]: writes the client's types of the routes from openapi.json, or fails where they differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutReferences } from '../../ts/server/platform/http/docs/shared-parts.ts';
import { type OpenApiDocument, routeTypes } from './route-types.ts';

const root = join(import.meta.dirname, '../..');
const target = join(root, 'ts/client/routes.ts');
const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as OpenApiDocument;
const wanted = routeTypes(withoutReferences(document));

if (!process.argv.includes('--check')) writeFileSync(target, wanted);
else if (readFileSync(target, 'utf8') !== wanted) {
  console.error('ts/client/routes.ts differs from openapi.json');
  process.exitCode = 1;
}
