import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';

const folder = t.testdir();

/** A node in a process of its own, without any model, on a free port, in a folder that no other one has. */
class Child {
  readonly process: ChildProcess;
  output = '';
  readonly exited: Promise<number | null>;

  constructor(t: Test, environment: Record<string, string> = {}) {
    const root = mkdtempSync(join(folder, 'node-'));
    mkdirSync(join(root, 'models'));
    const script = `
      const { runServer } = await import(${JSON.stringify(join(import.meta.dirname, 'run.ts'))});
      const { loadNodeConfig } = await import(${JSON.stringify(join(import.meta.dirname, 'settings.ts'))});
      const config = loadNodeConfig({ root: ${JSON.stringify(root)}, environment: process.env });
      process.exitCode = await runServer(config, ({ internal }) => console.log('port=' + internal.port));`;
    const settings = { SVC_LISTEN: '127.0.0.1:0', SVC_DEFAULT_MODEL: 'none', SVC_FORCE_CPU_FEATURES: 'none', ...environment };
    this.process = spawn(process.execPath, ['-e', script], { env: { ...process.env, ...settings } });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    this.exited = once(this.process, 'close').then(([code]) => code as number | null);
    t.teardown(() => {
      this.process.kill('SIGKILL');
      return this.exited;
    });
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = performance.now() + 30_000;
    while (performance.now() < deadline) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`${pattern} was not seen in: ${this.output}`);
  }

  async port(): Promise<number> {
    return Number((await this.until(/port=(\d+)\n/))[1]);
  }
}

/** A request that never ends: its body does not arrive. */
async function holdOpen(t: Test, port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write('POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{');
  const inFlight = async (): Promise<boolean> =>
    /svc_http_requests_in_flight 2/.test(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  while (!(await inFlight())) await new Promise((resolve) => setTimeout(resolve, 10));
}

t.test('the first signal drains and ends with 0', async (t) => {
  const child = new Child(t);
  const port = await child.port();
  while ((await fetch(`http://127.0.0.1:${port}/readyz`)).status !== 200);
  child.process.kill('SIGTERM');
  t.equal(await child.exited, 0);
  t.match(child.output, /"message":"draining".*"message":"stopped","clean":true/s);
});

t.test('work that outlasts the drain limit is cut, and the end is still orderly', async (t) => {
  const child = new Child(t, { SVC_HTTP_DRAIN_TIMEOUT_SECONDS: '0' });
  await holdOpen(t, await child.port());
  child.process.kill('SIGINT');
  t.equal(await child.exited, 0);
  t.match(child.output, /"message":"stopped","clean":false/);
});

t.test('a second signal ends at once', async (t) => {
  const child = new Child(t, { SVC_HTTP_DRAIN_TIMEOUT_SECONDS: '60' });
  await holdOpen(t, await child.port());
  child.process.kill('SIGTERM');
  await child.until(/"message":"draining"/);
  child.process.kill('SIGTERM');
  t.equal(await child.exited, 130);
});

t.test('a port that is taken is one sentence, before anything is loaded', async (t) => {
  const first = new Child(t);
  const port = await first.port();
  const second = new Child(t, { SVC_LISTEN: `127.0.0.1:${port}` });
  t.not(await second.exited, 0);
  t.match(second.output, /cannot listen on 127\.0\.0\.1:\d+: another program listens there/);
});
