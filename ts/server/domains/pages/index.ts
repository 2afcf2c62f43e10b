/**
 * The pages module: chat, sign-in and console, as built files. It has no role: the console is where roles are switched, so it is
 * there on every node.
 */

import { StaticFolder } from '../../platform/http/static/static-folder.ts';
import { defineModule } from '../../platform/module/module.ts';

export const pages = defineModule({
  name: 'pages',
  settings: {},
  create: async ({ node, log }) => {
    const { PAGES_NOT_BUILT, pageFolder, pagesRoutes } = await import('./routes.ts');
    const folder = pageFolder(node.installRoot);
    return {
      api: undefined,
      routes: pagesRoutes(folder),
      start: async () => {
        if ((await new StaticFolder(folder).find('chat.html')) === undefined) log.warn(PAGES_NOT_BUILT, { folder });
      },
      stop: async () => {},
      health: () => ({ state: {}, reasons: [] }),
      ready: () => undefined,
    };
  },
});
