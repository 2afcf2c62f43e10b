/** A sender of RELP with a window, which sends again what was not acknowledged: https://github.com/rsyslog/librelp/blob/master/doc/relp.html. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

interface RelpSenderOptions {
  port: number;
  /** Lines on their way. */
  window: number;
  /** Is called for each line, in the order of acknowledgement. */
  onAcknowledged(nAcknowledged: number): void;
}

const AGAIN_MS = 50;

/** Resolves when every line was acknowledged. */
export async function sendByRelp(lines: readonly string[], options: RelpSenderOptions): Promise<void> {
  const sender = new RelpSender(lines, options);
  while (!sender.isDone) {
    await sender.run().catch(() => undefined);
    if (!sender.isDone) await wait(AGAIN_MS);
  }
}

class RelpSender {
  readonly #options: RelpSenderOptions;
  /** Places of lines that are still to be sent. */
  #waiting: number[];
  readonly #lines: readonly string[];
  #nAcknowledged = 0;

  constructor(lines: readonly string[], options: RelpSenderOptions) {
    this.#lines = lines;
    this.#options = options;
    this.#waiting = lines.map((_, i) => i).reverse();
  }

  get isDone(): boolean {
    return this.#nAcknowledged === this.#lines.length;
  }

  /** One connection, until it breaks or all is done. */
  async run(): Promise<void> {
    const socket = connect({ host: '127.0.0.1', port: this.#options.port });
    const open = new Map<number, number>();
    try {
      await once(socket, 'connect');
      await this.#say(socket, open);
    } finally {
      socket.destroy();
      this.#waiting.push(...[...open.values()].reverse());
    }
  }

  async #say(socket: Socket, open: Map<number, number>): Promise<void> {
    let number = 1;
    const offers = 'relp_version=0\nrelp_software=test\ncommands=syslog';
    socket.write(`1 open ${Buffer.byteLength(offers)} ${offers}\n`);
    let rest = '';
    let isOpen = false;
    for await (const chunk of socket) {
      rest += (chunk as Buffer).toString('latin1');
      for (;;) {
        const [head, id = '', length = ''] = /^(\d+) rsp (\d+) ?/.exec(rest) ?? [];
        if (head === undefined || rest.length < head.length + Number(length) + 1) break;
        const data = rest.slice(head.length, head.length + Number(length));
        rest = rest.slice(head.length + Number(length)).replace(/^\n/, '');
        if (!data.startsWith('200')) throw new Error(`RELP answers ${data}`);
        isOpen = true;
        if (open.delete(Number(id))) this.#options.onAcknowledged(++this.#nAcknowledged);
      }
      if (this.isDone) return;
      let frames = '';
      while (isOpen && open.size < this.#options.window && this.#waiting.length > 0) {
        const place = this.#waiting.pop() as number;
        const line = this.#lines[place] as string;
        number += 1;
        open.set(number, place);
        frames += `${number} syslog ${Buffer.byteLength(line)} ${line}\n`;
      }
      if (frames !== '') socket.write(frames);
    }
  }
}
