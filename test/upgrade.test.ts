/** A node is replaced by the next while it is under load: no request is refused, none is cut. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { randomModel } from '../models/random/fixture.ts';
import { program } from '../ts/cli/run-cli.ts';
import { iterations } from './test-support/iterations.ts';
import { SocketActivated } from './test-support/socket-activated.ts';
import { UpgradeLoad } from './test-support/upgrade-load.ts';

t.setTimeout(600_000);
const streams = iterations(200, 1000, 'SVC_TEST_STREAMS');
const canRun = process.platform === 'linux' && spawnSync('python3', ['--version']).status === 0;

t.test(
  `a restart behind a socket under ${streams} streams fails no request`,
  { skip: canRun ? false : 'needs Linux and python3' },
  async (t) => {
    const folder = t.testdir();
    const env = {
      ...process.env,
      SVC_DATA_DIR: join(folder, 'data'),
      SVC_MODELS_SHIPPED: 'false',
      SVC_INFERENCE_PROBE_MODELS: 'false',
      SVC_INFERENCE_MAX_QUEUED_JOBS: '5000',
      SVC_INFERENCE_MAX_QUEUE_SECONDS: '600',
      SVC_HTTP_DRAIN_TIMEOUT_SECONDS: '600',
      SVC_LOG_LEVEL: 'warn',
    };
    const model = await randomModel({ arch: 'llama' });
    const nodes = await SocketActivated.open([process.execPath, '--no-warnings', program, 'serve', '--model', model], env);
    t.teardown(() => nodes.close());
    const first = await nodes.start();
    const models = (await (await fetch(`${nodes.url}/v1/models`)).json()) as { data: { id: string }[] };
    const load = new UpgradeLoad(nodes.url, models.data[0]?.id ?? '');
    load.openStreams(streams, 12);
    load.keepAsking(20);
    while (load.begun < streams / 10) await wait(10);
    const open = load.open;
    const stopped = nodes.stop(first);
    await wait(300);
    // They come while nobody accepts, and wait in the socket.
    load.openStreams(streams / 10, 4);
    await stopped;
    const second = await nodes.start();
    await wait(500);
    const { whole, answered, failures } = await load.end();
    t.strictSame(failures.slice(0, 10), [], `${failures.length} failed`);
    t.equal(whole, streams + streams / 10);
    t.ok(open > 0, `${open} streams were open when the node was told to end`);
    t.ok(answered > 10, `${answered} answered beside them`);
    await nodes.stop(second);
  },
);
