/**
 * `npm run hostile [-- --only text|routes] [--routes PART] [--as viewer|admin]`: what one request could do to everybody else, each finding by what it was found in: text functions on
 * their worst texts, and every route with its largest requests beside another tenant.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ATTACKER_ROLES, openHostileServer } from './hostile-server.ts';
import { printRouteFindings } from './route-findings.ts';
import { printTextFindings } from './text-findings.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, routes: { type: 'string', default: '' }, as: { type: 'string', default: 'viewer' } },
});
const role = ATTACKER_ROLES.find((each) => each === values.as);
if (role === undefined) throw new Error(`--as is one of ${ATTACKER_ROLES.join(', ')}`);
const nFunctions = values.only === 'routes' ? 0 : await printTextFindings(1024 * 1024);
const nRoutes = values.only === 'text' ? 0 : await runRoutes();
const found = `${nFunctions} functions and ${nRoutes} routes have a fault.`;
console.log(nFunctions + nRoutes === 0 ? 'No function and no route has a fault.' : found);
process.exitCode = nFunctions + nRoutes === 0 ? 0 : 1;

async function runRoutes(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-hostile-'));
  const hostile = await openHostileServer(folder, role);
  try {
    const options = { mostBytes: 8 * 2 ** 20, nCharacters: 3, stride: 1, nWaits: 3, includes: values.routes };
    return await printRouteFindings(hostile, options);
  } finally {
    await hostile.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
