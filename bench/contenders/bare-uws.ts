import { join } from 'node:path';
import { ChildServer, freePort } from '../../test/child-server.ts';
import type { Contender } from './contender.ts';
import { ServerContender } from './server-contender.ts';

export const bareUws: Contender = {
  name: 'bare-uws',
  start: async () => new ServerContender(await startBareUws()),
};

export async function startBareUws(): Promise<ChildServer> {
  const port = await freePort();
  return ChildServer.start({
    program: process.execPath,
    args: [join(import.meta.dirname, 'bare-uws-server.ts'), String(port)],
    url: `http://127.0.0.1:${port}`,
    readyPath: '/livez',
  });
}
