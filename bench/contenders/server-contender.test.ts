import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ChildServer, freePort } from '../../test/child-server.ts';
import { ServerContender } from './server-contender.ts';

t.test('the data folder of a server goes when it has stopped', async (t) => {
  const port = await freePort();
  const server = await ChildServer.start({
    program: process.execPath,
    args: [join(import.meta.dirname, 'bare-uws-server.ts'), String(port)],
    url: `http://127.0.0.1:${port}`,
    readyPath: '/',
  });
  const dataFolder = t.testdir({ file: '' });
  await new ServerContender(server, { dataFolder }).stop();
  t.notOk(server.running);
  t.notOk(existsSync(dataFolder));
});
