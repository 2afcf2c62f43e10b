/**
 * A bare client of many devices: a connection for each, and the last value of each variable in a map; no history, no quality, nobody who may ask.
 * Usage: node bare-client-program.ts PORT BROKER_PORT DEVICES VARIABLES. It answers HTTP with how many values came.
 */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { topicOf } from './device-load.ts';
import { FrameReader, frame, text, textAt } from './mqtt-frames.ts';

const [port = 0, brokerPort = 0, nDevices = 0, nVariables = 0] = process.argv.slice(2).map(Number);
const PUBLISH = 3;
const CONNACK = 2;

const values = new Map<string, number>();
let nValues = 0;

for (let device = 0; device < nDevices; device += 1) {
  const reader = new FrameReader();
  const socket = connect(brokerPort, '127.0.0.1');
  socket.write(frame(0x10, text('MQTT'), Buffer.from([4, 2, 0, 60]), text(`bare-${device}`)));
  socket.on('data', (chunk) => {
    for (const { first, body } of reader.take(chunk)) {
      if (first >> 4 === CONNACK) {
        const topics = Array.from({ length: nVariables }, (_, i) => [text(topicOf(device, i)), Buffer.from([0])]);
        socket.write(frame(0x82, Buffer.from([0, 1]), ...topics.flat()));
      }
      if (first >> 4 !== PUBLISH) continue;
      const [topic, end] = textAt(body, 0);
      values.set(topic, (JSON.parse(body.toString('utf8', end)) as { value: number }).value);
      nValues += 1;
    }
  });
}

createServer((_, response) => response.end(String(nValues))).listen(port, '127.0.0.1');
