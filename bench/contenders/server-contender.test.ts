import { existsSync } from 'node:fs';
import t from 'tap';
import { startBareUws } from './bare-uws.ts';
import { ServerContender } from './server-contender.ts';

t.test('the data folder of a server goes when it has stopped', async (t) => {
  const server = await startBareUws();
  const dataFolder = t.testdir({ file: '' });
  await new ServerContender(server, { dataFolder }).stop();
  t.notOk(server.running);
  t.notOk(existsSync(dataFolder));
});
