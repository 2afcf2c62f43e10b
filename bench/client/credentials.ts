/** What a credential adds to a request: the same one with and without a key, in turn on one connection, so that a drift of the machine touches both alike. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { CredentialLoad } from '../load/load.ts';
import type { Target } from './connection.ts';
import type { Scenario } from './scenario.ts';
import { at } from './summary.ts';

/** Of each kind, not counted: until then code is compiled and the key looked up. */
const N_WARM_UP = 2_000;

export const runCredentials: Scenario<CredentialLoad> = async ({ target }, { path, requests }) => {
  const head = `GET ${path} HTTP/1.1\r\nhost: ${target.host}\r\n`;
  const withKey = (key: string) => `${head}x-api-key: ${key}\r\n\r\n`;
  const texts = { plain: `${head}\r\n`, authenticated: withKey(target.keys?.quiet ?? '') };
  const micros: Record<keyof typeof texts, number[]> = { plain: [], authenticated: [] };
  const socket = await open(target);
  if ((await ask(socket, withKey('wrong'))).isOk) throw new Error('a wrong key is answered, so nobody looks at keys');
  let nFailed = 0;
  for (let n = -N_WARM_UP; n < requests; n += 1) {
    const order = Math.random() < 0.5 ? (['plain', 'authenticated'] as const) : (['authenticated', 'plain'] as const);
    for (const kind of order) {
      const { isOk, tookMicros } = await ask(socket, texts[kind]);
      if (!isOk) nFailed += 1;
      if (n >= 0) micros[kind].push(tookMicros);
    }
  }
  socket.destroy();
  const [plainP50Micros, authenticatedP50Micros] = [at(micros.plain, 0.5), at(micros.authenticated, 0.5)];
  return {
    nRequests: 2 * (requests + N_WARM_UP),
    nFailed,
    plainP50Micros,
    authenticatedP50Micros,
    addedP50Micros: authenticatedP50Micros - plainP50Micros,
  };
};

async function open({ host, port }: Target): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  await once(socket, 'connect');
  return socket;
}

/** The answers are small: each comes in one piece. */
function ask(socket: Socket, text: string): Promise<{ isOk: boolean; tookMicros: number }> {
  return new Promise((resolve) => {
    const startedAt = process.hrtime.bigint();
    socket.once('data', (answer: Buffer) => {
      const tookMicros = Number(process.hrtime.bigint() - startedAt) / 1_000;
      resolve({ isOk: answer.toString('latin1', 0, 15) === 'HTTP/1.1 200 OK', tookMicros });
    });
    socket.write(text);
  });
}
