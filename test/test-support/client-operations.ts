/**
 * Requests to a route, made from a client's own types: each member in each of its forms, one at a time and in pairs. What a member asks for is seen
 * in the answer, or the request is refused by the member's name.
 */
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import type { Test } from 'tap';
import { Compile } from 'typebox/compile';
import { ClientTypes, type TypeName } from '../../scripts/check/client-types.ts';
import type { Route } from '../../ts/server/platform/http/route.ts';
import type { SchemaNode } from '../../ts/server/platform/schema/accepted.ts';
import { memberEffects } from '../../ts/server/platform/schema/member-effect.ts';
import { type HttpAnswer, send } from '../http.ts';
import { samplesOf } from './client-samples.ts';
import { iterations } from './iterations.ts';

export type Members = Record<string, unknown>;
export type Seen = Members & { data?: Members[] };
/** Whether the answer shows what the member asked for. */
export type Effect = (value: unknown, answer: Seen, asked: Members) => boolean | Promise<boolean>;

export interface Operation {
  route: string;
  /** What else tells it from another one of the route. */
  of?: string;
  type: TypeName;
  /** What every request has; a member of a set takes its place. */
  base?: Members;
  /** Values beside those that are made from the types, by the member's name. */
  values?: Readonly<Record<string, readonly unknown[]>>;
  ask: (members: Members) => Promise<HttpAnswer>;
  undo?: (answer: Seen) => Promise<unknown>;
  effects: Readonly<Record<string, Effect>>;
}

export function list(at: string, headers: Record<string, string> = {}): Operation['ask'] {
  return (members) => send(`${at}?${queryOf(members)}`, { headers });
}

/** As the clients of npm write it. */
export function queryOf(members: Members): URLSearchParams {
  const pairs = Object.entries(members).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((each) => [`${name}[]`, String(each)]) : [[name, String(value)]],
  );
  return new URLSearchParams(pairs as [string, string][]);
}

export function listed({ data = [] }: Seen): string[] {
  return data.map(({ id }) => String(id));
}

/** Tells whether what is listed lies at one side of an item, in the order that was asked for. */
export function beside(ask: Operation['ask'], side: 'behind' | 'before'): Effect {
  return async (value, answer, { order, filter, purpose }) => {
    const same = Object.fromEntries(Object.entries({ order, filter, purpose }).filter(([, each]) => each !== undefined));
    const all = listed((await ask({ ...same, limit: 100 })).json as Seen);
    const at = all.indexOf(String(value));
    const may = at === -1 ? [] : side === 'behind' ? all.slice(at + 1) : all.slice(0, at);
    return listed(answer).every((id) => may.includes(id));
  };
}

export function paging(ask: Operation['ask']): Operation['effects'] {
  return {
    limit: (value, answer) => listed(answer).length <= Number(value),
    order: (value, { data = [] }) => {
      const times = data.map((each) => Number(each['created_at']));
      return times.every((time, i) => i === 0 || (value === 'asc' ? time >= Number(times[i - 1]) : time <= Number(times[i - 1])));
    },
    after: beside(ask, 'behind'),
    before: beside(ask, 'before'),
    filter: (value, { data = [] }) => data.every(({ status }) => status === value),
    purpose: (value, { data = [] }) => data.every(({ purpose }) => purpose === value),
  };
}

export const equals = (name: string): Effect => {
  return (value, answer) => same(answer[name], value);
};

export function same(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

/** Not in a body or query: a path or a header has it, or it is the file itself. */
const elsewhere = ['vector_store_id', 'file', 'betas', 'workspace_id'];

interface Sample {
  member: string;
  value: unknown;
}

function samples(types: ClientTypes, { type, values = {} }: Operation): Sample[] {
  return types
    .members(types.get(type))
    .filter(({ name }) => !elsewhere.includes(name))
    .flatMap(({ name, type: of }) => {
      const texts = new Set([...samplesOf(types, of, 1), ...(values[name] ?? [])].map((value) => JSON.stringify(value)));
      return [...texts].map((text) => ({ member: name, value: JSON.parse(text) as unknown }));
    });
}

/** What is documented of the route: its members, and the codes of its refusals. */
function documented(routes: readonly Route[], name: string) {
  const route = routes.find(({ method, path }) => `${method} ${path}` === name);
  if (route === undefined) throw new Error(`there is no route ${name}`);
  const effects = [route.body, route.query].flatMap((schema) => memberEffects((schema ?? {}) as unknown as SchemaNode));
  const codes = new Set([
    'unsupported_member',
    ...(route.errors ?? []).map((error) => (typeof error === 'string' ? error : error.code)),
  ]);
  return { effects, codes };
}

const memberOf = ({ json }: HttpAnswer) =>
  String((json?.['error'] as { param?: string } | undefined)?.param ?? json?.['param'] ?? '').replace(/[.[].*$/, '');

/** Each is a test of its own, and so are its members in pairs. */
export async function testOperations(t: Test, routes: readonly Route[], operations: readonly Operation[]): Promise<void> {
  const types = new ClientTypes(
    process.cwd(),
    operations.map(({ type }) => type),
  );
  // Reading the types takes long: connections that the server closed meanwhile are seen to be closed.
  await setTimeout(10);
  for (const operation of operations) testOperation(t, operation, samples(types, operation), documented(routes, operation.route));
}

function testOperation(t: Test, operation: Operation, all: readonly Sample[], table: ReturnType<typeof documented>): void {
  const { route, of = '', base = {}, ask, undo, effects } = operation;
  const title = `${route} ${of}`.trimEnd();

  /** What is wrong with the answer; undefined where nothing is. */
  const judge = async (set: readonly Sample[]): Promise<string | undefined> => {
    const asked = { ...base, ...Object.fromEntries(set.map(({ member, value }) => [member, value])) };
    const answer = await ask(asked);
    const seen = (answer.json ?? {}) as Seen;
    try {
      if (answer.status === 200) return await faultOfAnswer(set, seen, asked);
      const { code } = (seen['error'] ?? seen) as { code?: string };
      if (![400, 404, 422].includes(answer.status) || !table.codes.has(String(code)))
        return `is answered ${answer.status}: ${answer.text.slice(0, 300)}`;
      if (!set.some(({ member }) => member === memberOf(answer)))
        return `is refused without its name: ${answer.text.slice(0, 300)}`;
      return undefined;
    } finally {
      if (answer.status === 200) await undo?.(seen);
    }
  };
  const faultOfAnswer = async (set: readonly Sample[], answer: Seen, asked: Members): Promise<string | undefined> => {
    for (const { member, value } of set) {
      const entry = table.effects.find(({ name }) => name === member);
      if (entry?.effect === 'ignored') continue;
      if (entry?.effect === 'refused') {
        if (!Compile(entry.node as never).Check(value)) return `is answered, though the table refuses ${member}`;
        continue;
      }
      const effect = effects[member];
      if (effect === undefined) return `is answered, and nothing is known of ${member}`;
      if (!(await effect(value, answer, asked))) return `shows nothing of ${member}: ${JSON.stringify(answer).slice(0, 300)}`;
    }
    return undefined;
  };

  t.test(`${title}: each member in each form has its effect or is refused by its name`, async (t) => {
    t.ok(all.length > 0, `${all.length} requests`);
    for (const sample of all) t.equal(await judge([sample]), undefined, JSON.stringify(sample));
  });

  const names = new Set(all.map(({ member }) => member));
  if (names.size > 1)
    t.test(`${title}: members in pairs have both effects, or one is refused by its name`, async (t) => {
      const pair = fc.tuple(fc.constantFrom(...all), fc.constantFrom(...all)).filter(([a, b]) => a.member !== b.member);
      for (const set of fc.sample(pair, iterations(15, 300))) t.equal(await judge(set), undefined, JSON.stringify(set));
    });
}
