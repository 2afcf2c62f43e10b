/** What clients do that want to hurt others, or that were never tried: with their requests, their stored data and their connections. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '../../models/random/seeded-random.ts';
import { HOSTILE } from '../hostile/tenants.ts';
import type { Answer } from './contract.ts';
import { costlyRequest, mostTexts } from './costly.ts';
import { hostileRequest } from './hostile.ts';
import { ask, getRequest, type Site, type Visit, type WeightedVisit } from './visits.ts';

const CONVERSATIONS = '/api/v1/edge/conversations';
/** An account keeps so many, so that a long run stores as much as a short one. */
const N_KEPT = 200;

const attack: Visit = async (site, random) => {
  const [path, body] = await hostileRequest(random);
  return ask(site, 'POST', path, JSON.stringify(body));
};

const ruin: Visit = (site, random) => {
  const [path, body] = costlyRequest(random);
  return ask(site, 'POST', path, JSON.stringify(body));
};

const embedMost: Visit = (site) => {
  const [path, body] = mostTexts();
  return ask(site, 'POST', path, JSON.stringify(body));
};

/** Stores what folding finds hardest, searches it, and takes it away again. */
const storeMarks: Visit = async (site, random) => {
  const id = newId(random);
  const marks = '\u0301\u0316'.repeat(random.pick([100, 16_000, 48_000]));
  const message = { conversation_id: id, role: 'user', content: `lighthouse ${marks}` };
  return [
    ...(await post(site, CONVERSATIONS, { id, title: 'Marks' })),
    ...(await post(site, `${CONVERSATIONS}/messages`, message)),
    ...(await ask(site, 'GET', `${CONVERSATIONS}/search?q=${encodeURIComponent(`a${marks}`.slice(0, 200))}`)),
    ...(await ask(site, 'GET', `${CONVERSATIONS}/search?q=lighthouse`)),
    ...(await ask(site, 'DELETE', `${CONVERSATIONS}?id=${id}`)),
  ];
};

/** Conversations with as much metadata as one may have, and four lists of all of them at once. */
const listLarge: Visit = async (site, random) => {
  const metadata = { text: 'm'.repeat(256_000) };
  const kept = await post(site, CONVERSATIONS, { id: `kept-${random.integer(N_KEPT)}`, metadata });
  const lists = await Promise.all(Array.from({ length: 4 }, () => ask(site, 'GET', `${CONVERSATIONS}?limit=1000`)));
  return [...kept, ...lists.flat()];
};

/** Some MB in one conversation, of many messages or of one that is too long. */
const importLarge: Visit = async (site, random) => {
  const id = newId(random);
  const [nMessages, length] = random.pick<[number, number]>([
    [4_000, 500],
    [1, 4_000_000],
  ]);
  const node = (i: number) => ({
    parent: i === 0 ? null : String(i - 1),
    message: { author: { role: 'user' }, content: { content_type: 'text', parts: ['word '.repeat(length / 5)] }, create_time: i },
  });
  const mapping = Object.fromEntries(Array.from({ length: nMessages }, (_, i) => [String(i), node(i)]));
  const file = [{ conversation_id: id, title: 'Imported', current_node: String(nMessages - 1), mapping }];
  const type = { 'content-type': 'application/octet-stream' };
  return [
    ...(await ask(site, 'POST', `${CONVERSATIONS}/import`, JSON.stringify(file), type)),
    ...(await ask(site, 'DELETE', `${CONVERSATIONS}?id=${id}`)),
  ];
};

/** Connections that ask for large answers and read nothing. */
const neverRead: Visit = async (site) => {
  const sockets = Array.from({ length: 10 }, () => connect(Number(new URL(site.url).port), '127.0.0.1').pause());
  try {
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    sockets.forEach((socket, i) => {
      socket.on('error', () => {});
      socket.write(getRequest(site, i % 2 === 0 ? '/openapi.json' : `${CONVERSATIONS}/export?id=kept-1`));
    });
    await sleep(2_000);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  return [];
};

/** NULs, halves of characters and bytes that are none, wherever a text may stand. */
const sendNoTexts: Visit = (site, random) => {
  const bad = random.pick(['%00', 'a%00b', '%ED%A0%80', '%ff', '%C0%80']);
  const text = random.pick(['\0', 'a\0b', '\ud800', '\udc00\ud800']);
  return random.pick<() => Promise<Answer[]>>([
    () => ask(site, 'GET', `/v1/models/${bad}`),
    () => ask(site, 'GET', `/v1/responses/${bad}`),
    () => ask(site, 'GET', `${CONVERSATIONS}/messages?id=${bad}`),
    () => ask(site, 'GET', `${CONVERSATIONS}/search?q=${bad}`),
    () => post(site, CONVERSATIONS, { title: text, folder: text }),
    () => post(site, '/api/v1/auth/login', { username: text, password: text }),
    () => post(site, '/v1/embeddings', { model: text, input: [text] }),
  ])();
};

const tryPasswords: Visit = async (site, random) => {
  const attempt = () => post(site, '/api/v1/auth/login', { username: `${HOSTILE}-admin`, password: newId(random) });
  return (await Promise.all(Array.from({ length: 10 }, attempt))).flat();
};

function post(site: Site, path: string, body: object): Promise<Answer[]> {
  return ask(site, 'POST', path, JSON.stringify(body));
}

function newId(random: SeededRandom): string {
  return `visit-${random.integer(2 ** 31)}-${random.integer(2 ** 31)}`;
}

export const hostileVisits: readonly WeightedVisit[] = [
  ['hostile', 24, attack],
  ['costly', 12, ruin],
  ['combining marks', 3, storeMarks],
  ['large lists', 4, listLarge],
  ['large import', 2, importLarge],
  ['no texts', 6, sendNoTexts],
  ['wrong passwords', 1, tryPasswords],
];

/** Each takes longer than a sample of a few seconds may. */
export const longVisits: readonly WeightedVisit[] = [
  ['never reading', 2, neverRead],
  ['most texts', 1, embedMost],
];
