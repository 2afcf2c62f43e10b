/** Every page below docs/reference/: none is edited by hand. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from '../../ts/server/main.ts';
import { INSTALL_ROOT } from '../../ts/server/product.ts';
import { loadNodeConfig } from '../../ts/server/settings.ts';
import { errorsPage, membersPage, routesPage } from './api-pages.ts';
import { llamaServerPage } from './llama-server-page.ts';
import { commandsPage, eventsPage, metricsPage, settingsPage } from './program-pages.ts';

const docs = join(INSTALL_ROOT, 'docs');
const folder = join(docs, 'reference');

/** Nothing is opened or read: the program is made of the code alone. */
export async function programParts() {
  return await createServer(loadNodeConfig({ root: INSTALL_ROOT, environment: {} }));
}

async function referencePages(): Promise<Record<string, string>> {
  // The pages depend on the code, and on which guides name an error.
  const { routes, metrics } = await programParts();
  return {
    'settings.md': settingsPage(),
    'commands.md': await commandsPage(),
    'errors.md': errorsPage(routes, readGuides()),
    'routes.md': routesPage(routes),
    'members.md': membersPage(routes),
    'metrics.md': metricsPage(metrics),
    'events.md': eventsPage(),
    'llama-server.md': llamaServerPage(),
  };
}

function readGuides(): Map<string, string> {
  const paths = globSync('{install,operate,use,admin}/*.md', { cwd: docs }).sort();
  return new Map(paths.map((path) => [path, readFileSync(join(docs, path), 'utf8')]));
}

/** What differs from the code: pages that say something else or are missing, and files that are none of these pages. */
export async function staleReferencePages(): Promise<string[]> {
  const pages = await referencePages();
  const present = new Map(globSync('*', { cwd: folder }).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const names = new Set([...Object.keys(pages), ...present.keys()]);
  return [...names].filter((name) => pages[name] !== present.get(name)).map((name) => `docs/reference/${name}`);
}

export async function writeReferencePages(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await referencePages())) writeFileSync(join(folder, name), text);
}
