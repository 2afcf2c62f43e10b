/** A model that is served over the memory of two nodes: the same words as on one, and the loss of a part of it is an error and passes. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { PostgresCluster } from '../ts/server/platform/storage/test-support/postgres-cluster.ts';
import { type ChildServer, freePort } from './child-server.ts';
import { chatModel, embeddingModel, startServer } from './server.ts';

const programs = join(import.meta.dirname, '..', 'build', 'split');
const missing = existsSync(join(programs, 'split.stamp'))
  ? undefined
  : 'the programs of split models are not built: node scripts/build.mjs --split build/split (10 minutes, the first time)';
const ids = ['a', 'b'].map((letter) => `00000000-0000-4000-8000-00000000000${letter}`);

async function chat({ url }: ChildServer): Promise<{ status: number; said: string | undefined; code: string | undefined }> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: chatModel, messages: [{ role: 'user', content: 'tell me' }], temperature: 0, max_tokens: 16 }),
  });
  const body = (await response.json()) as {
    choices?: { message: { content: string } }[];
    error?: { code: string };
  };
  return { status: response.status, said: body.choices?.[0]?.message.content, code: body.error?.code };
}

/** Processes that run a program below a server. */
function findBelow(server: ChildServer, name: string): number[] {
  const parents = new Map<number, number>();
  const named: number[] = [];
  for (const entry of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const [, rest = ''] = readFileSync(`/proc/${entry}/stat`, 'utf8').split(/\) (?=[A-Z] )/);
      parents.set(Number(entry), Number(rest.split(' ')[1]));
      if (readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0')[0]?.endsWith(`/${name}`)) named.push(Number(entry));
    } catch {
      // It has ended meanwhile.
    }
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === server.pid || isBelow(parents.get(pid)));
  return named.filter((pid) => isBelow(pid));
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(100);
}

/** The answer may have been begun or not. */
const lost = { status: 502, code: /^provider_(unreachable|stream_cut)$/ };
const skip = missing ?? PostgresCluster.missing() ?? false;
t.test('a model over two nodes', { skip, timeout: 240_000 }, async (t) => {
  const postgres = await PostgresCluster.start();
  t.teardown(() => postgres.remove());
  const databaseUrl = await postgres.newDatabase();
  const start = async (i: number, models: Record<string, { arch: 'llama' | 'bert' }>, env: NodeJS.ProcessEnv = {}) => {
    const folder = join(t.testdirName, String(i));
    mkdirSync(join(folder, 'data'), { recursive: true });
    writeFileSync(join(folder, 'data', 'node.json'), JSON.stringify({ id: ids[i] }));
    const listen = `127.0.0.1:${await freePort()}`;
    return await startServer(t, {
      models,
      folder,
      env: { SVC_DATABASE_URL: databaseUrl, SVC_CLUSTER_LISTEN: listen, SVC_INFERENCE_SPLIT_PROGRAMS: programs, ...env },
    });
  };
  const whole = await startServer(t, { models: { [chatModel]: { arch: 'llama' } }, folder: join(t.testdir(), 'whole') });
  const expected = await chat(whole);
  t.match(expected, { status: 200, said: /./ });
  const back = await start(1, { [embeddingModel]: { arch: 'bert' } });
  const front = await start(
    0,
    { [embeddingModel]: { arch: 'bert' }, [chatModel]: { arch: 'llama' } },
    { SVC_INFERENCE_SPLIT: `${chatModel}=${ids[1]},${ids[0]}` },
  );
  await until(async () => (await chat(front)).status === 200);

  await t.test('says what one node says', async (t) => {
    t.strictSame(await chat(front), expected);
    t.equal(findBelow(back, 'ggml-rpc-server').length, 1, 'its tensors are in another process of the other node');
    t.equal(findBelow(front, 'ggml-rpc-server').length, 1);
    t.equal(findBelow(front, 'llama-server').length, 1, 'and it is computed in none of the nodes themselves');
    const { data } = (await (await fetch(`${front.url}/api/v1/cloud/backends`)).json()) as { data: object[] };
    t.match(data, [{ id: `split-${chatModel}`, serving_state: 'ok' }]);
  });

  await t.test('ends in a documented error with a part of it, and comes back', async (t) => {
    for (const pid of findBelow(back, 'ggml-rpc-server')) process.kill(pid, 'SIGKILL');
    let last = await chat(front);
    t.match(last, lost);
    await until(async () => {
      last = await chat(front);
      return last.status === 200;
    });
    t.strictSame(last, expected);
  });

  await t.test('leaves nothing behind when a node is killed', async (t) => {
    const [hosted] = findBelow(back, 'ggml-rpc-server');
    await back.stop('SIGKILL');
    await until(() => !existsSync(`/proc/${hosted}`));
    t.match(await chat(front), lost);
    const servers = findBelow(front, 'llama-server');
    await front.stop('SIGKILL');
    await until(() => servers.every((pid) => !existsSync(`/proc/${pid}`)));
  });
});
