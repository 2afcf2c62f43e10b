/**
 * A broker that is played for the bench: on each connection it publishes every topic that was subscribed to once a second, at QoS 0. It answers HTTP
 * with the port at which it speaks MQTT. Usage: node broker-program.ts PORT
 */
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { FrameReader, frame, text, textAt } from './mqtt-frames.ts';

const EVERY_MS = 1_000;
const [CONNECT, SUBSCRIBE, PING] = [1, 8, 12];

const broker = createServer((socket) => {
  const reader = new FrameReader();
  const topics: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  socket.on('error', () => undefined).on('close', () => clearInterval(timer));
  socket.on('data', (chunk) => {
    for (const { first, body } of reader.take(chunk)) {
      if (first >> 4 === CONNECT) socket.write(Buffer.from([0x20, 2, 0, 0]));
      if (first >> 4 === PING) socket.write(Buffer.from([0xd0, 0]));
      if (first >> 4 !== SUBSCRIBE) continue;
      const codes: number[] = [];
      for (let at = 2; at < body.length; at += 1) {
        const [topic, end] = textAt(body, at);
        topics.push(topic);
        codes.push(0);
        at = end;
      }
      socket.write(frame(0x90, body.subarray(0, 2), Buffer.from(codes)));
      // Devices do not all tell at once.
      timer ??= setInterval(() => publish(socket, topics), EVERY_MS);
    }
  });
});

function publish(socket: Socket, topics: readonly string[]): void {
  const at = Date.now();
  socket.write(Buffer.concat(topics.map((topic, i) => frame(0x30, text(topic), Buffer.from(`{"value":${(at + i) % 1_000}}`)))));
}

broker.listen(0, '127.0.0.1', () => {
  const { port } = broker.address() as AddressInfo;
  createHttpServer((_, response) => response.end(String(port))).listen(Number(process.argv[2]), '127.0.0.1');
});
