/** What is no text, in every place of every route of a running server: refused, and nowhere a fault of the server. */
import fc from 'fast-check';
import t from 'tap';
import { documentationFault } from '../matrix/documented.ts';
import { LAST, rowsOf } from '../matrix/rows.ts';
import { iterations } from '../test-support/iterations.ts';
import { openHostileServer } from './hostile-server.ts';
import { placesOf, withValue } from './request-places.ts';

/** Of a path and a query, as bytes: NULs, overlong forms, halves of pairs, cut characters. */
const NO_ESCAPES = ['%00', 'a%00b', '%ff', '%c0%80', '%ed%a0%80', '%f0%9f%a6', `${'x'.repeat(200)}%00`];
const NO_STRINGS = ['\0', 'a\0b', '\ud83d', 'a\ude00', `${'x'.repeat(300)}\0`];
/** Prompts may hold them, and are answered as others are. */
const FREE =
  /^\/(v1\/(chat|responses|messages|embeddings|rerank|cloud|inference|vector_stores\/.*\/search)|(de)?tokenize|api\/v1\/vector\/(ingest|search))/;

const hostile = await openHostileServer(t.testdir());
t.teardown(() => hostile.stop());
const { client, openapi, root, ids } = hostile;
const places = rowsOf(openapi)
  .filter(({ name }) => !LAST.includes(name))
  .flatMap((row) => placesOf(row).map((place) => ({ row, place })));

/** By name, so that a failure names the place and not its whole description. */
const byName = new Map<string, (typeof places)[number]>(
  places.map((each) => [`${each.row.name}, ${each.place.in} ${each.place.name}`, each]),
);

async function findFault(name: string, escapes: string, text: string): Promise<string | undefined> {
  const { row, place } = byName.get(name) ?? {};
  if (row === undefined || place === undefined) throw new Error(`there is no place ${name}`);
  const request = withValue(row, ids, place, place.in === 'body' ? text : escapes);
  const answer = await client.send({ ...request, headers: { ...root, ...request.headers } });
  const isFree = place.in === 'body' && FREE.test(row.template);
  const isRefused = answer.status >= 400 && (place.in === 'body' || answer.status !== 404);
  if (answer.status >= 500 || !(isFree || isRefused)) return `answers ${answer.status}: ${answer.text.slice(0, 300)}`;
  return documentationFault(row.operation, answer);
}

t.test('every place of every route refuses what is no text', { timeout: 600_000 }, async (t) => {
  t.ok(byName.size > 300, `${byName.size} places`);
  const property = fc.asyncProperty(
    fc.constantFrom(...byName.keys()),
    fc.constantFrom(...NO_ESCAPES),
    fc.constantFrom(...NO_STRINGS),
    async (name, escapes, text) => {
      const fault = await findFault(name, escapes, text);
      if (fault !== undefined) throw new Error(`${name} ${fault}`);
    },
  );
  await fc.assert(property, { numRuns: iterations(300, 1_500), endOnFailure: true });
});
