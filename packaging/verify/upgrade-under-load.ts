/**
 * A running server is replaced by another while clients stream from it, behind a socket that stays open. No service manager runs in a container: a
 * small program holds the socket and starts the server as svc.socket and svc.service say.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { SocketActivated } from '../../test/test-support/socket-activated.ts';
import { UpgradeLoad } from '../../test/test-support/upgrade-load.ts';
import { expect } from './checks.ts';

export const UPGRADE_STREAMS = 1000;
const MODEL = 'svc-chat-tiny';

interface Upgrade {
  /** Starts a server that stays in the foreground. */
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Puts the other version into the place of the one that runs. */
  install: () => Promise<void>;
}

/** Resolves to what was answered; throws unless all was. */
export async function upgradeUnderLoad({ command, env, install }: Upgrade): Promise<string> {
  const nodes = await SocketActivated.open(command, { ...env, ...settings });
  try {
    const first = await nodes.start();
    const load = new UpgradeLoad(nodes.url, MODEL);
    load.openStreams(UPGRADE_STREAMS / 2, 8);
    load.keepAsking(20);
    while (load.begun < UPGRADE_STREAMS / 20) await wait(10);
    await install();
    // Those from before may have ended while the files were written.
    const begun = load.begun;
    load.openStreams(UPGRADE_STREAMS / 2, 16);
    while (load.begun < begun + UPGRADE_STREAMS / 20) await wait(10);
    const { open } = load;
    const askedAt = performance.now();
    await nodes.stop(first);
    const drainSeconds = ((performance.now() - askedAt) / 1000).toFixed(1);
    const second = await nodes.start();
    await wait(500);
    const { whole, answered, failures } = await load.end();
    await nodes.stop(second);
    expect(failures.length === 0, `${failures.length} failed, for example ${failures[0]}`);
    expect(open > 0, 'no stream was open when the server was told to end');
    return `${whole} whole, ${open} of them open at SIGTERM and finished within ${drainSeconds} s; ${answered} answered beside them`;
  } finally {
    await nodes.close();
  }
}

/** So many requests at once are more than a server takes by itself. How long they may take to finish is what the package says. */
const settings = {
  SVC_DEFAULT_MODEL: MODEL,
  SVC_LOG_LEVEL: 'warn',
  SVC_INFERENCE_MAX_QUEUED_JOBS: '5000',
  SVC_INFERENCE_MAX_QUEUE_SECONDS: '600',
};
