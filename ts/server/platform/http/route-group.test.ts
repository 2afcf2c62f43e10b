import t from 'tap';
import Type from 'typebox';
import { defineErrors } from '../errors/define-errors.ts';
import { openapiDocument } from './docs/openapi.ts';
import { withoutReferences } from './docs/shared-parts.ts';
import { page, pageRead } from './page.ts';
import { json } from './route.ts';
import { routes } from './route-group.ts';
import { openTestBed } from './test-support/test-bed.ts';

const errors = defineErrors('things', {
  thing_not_found: [404, 'There is no such thing.', 'List them first.'],
  thing_full: [409, 'It is full.', 'Empty it.'],
});
const { get, post, del } = routes({ tag: 'Things', auth: 'open', maxBody: 1000, errors });
const Thing = Type.Object({ id: Type.String() });
const all = [
  get('/things/{id}', {
    summary: 'One thing',
    params: Thing,
    answer: Thing,
    errors: ['thing_not_found', { status: 418, code: 'teapot', meaning: 'It is a teapot.', remedy: 'Take a kettle.' }],
    handle: ({ params }) => {
      if (params.id === 'none') throw errors.error('thing_not_found', 'There is no thing none.');
      return { id: params.id };
    },
  }),
  post('/things', {
    summary: 'Make a thing',
    body: Thing,
    answer: Thing,
    status: 201,
    headers: { 'cache-control': 'no-store' },
    handle: async ({ body }) => body,
  }),
  del('/things', { summary: 'Delete all', auth: 'local', handle: async () => undefined }),
  get('/either', { summary: 'Two answers', responses: { 200: Thing, 202: Thing }, handle: () => json(202, { id: 'b' }) }),
];

t.test('a route has what its group says, and what it says itself goes before', (t) => {
  t.strictSame(
    all.map(({ method, auth, maxBody, tag }) => [method, auth, maxBody, tag]),
    [
      ['GET', 'open', 0, 'Things'],
      ['POST', 'open', 1000, 'Things'],
      ['DELETE', 'local', 0, 'Things'],
      ['GET', 'open', 0, 'Things'],
    ],
  );
  t.end();
});

t.test('the table says what a code means and what to do about it, in declarations and on the page of errors', (t) => {
  t.strictSame(all[0]?.errors?.[0], {
    status: 404,
    code: 'thing_not_found',
    module: 'things',
    meaning: 'There is no such thing.',
    remedy: 'List them first.',
  });
  t.strictSame(errors.codes, ['thing_not_found', 'thing_full']);
  t.ok(errors.has(errors.error('thing_full', 'Full.')));
  t.notOk(errors.has(new Error('thing_full')));
  const { message, sentence } = errors.error('thing_full', 'It holds 3.', { remedy: 'Take one out.' });
  t.strictSame([message, sentence], ['It holds 3. Take one out.', 'It holds 3.'], 'what to do this time is said as well');
  const document = withoutReferences(openapiDocument(all, { title: 'Test', version: '1', description: '' }));
  t.match(JSON.stringify(document), /thing_not_found`: There is no such thing. List them first./);
  t.end();
});

t.test('the value of a handler is answered under the status of its route', async (t) => {
  const { url } = await openTestBed(t, all);
  const ask = async (method: string, path: string, body?: object) => {
    const init = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await fetch(url + path, { method, ...init });
    return { status: answer.status, text: await answer.text(), cache: answer.headers.get('cache-control') };
  };
  t.match(await ask('GET', '/things/a'), { status: 200, text: '{"id":"a"}' });
  t.match(await ask('GET', '/things/none'), { status: 404, text: /thing_not_found/ });
  t.match(await ask('POST', '/things', { id: 'a' }), { status: 201, text: '{"id":"a"}', cache: 'no-store' });
  t.match(await ask('DELETE', '/things'), { status: 204, text: '' });
  t.match(await ask('GET', '/either'), { status: 202, text: '{"id":"b"}' });
});

t.test('a page names the next one while there is one', (t) => {
  const rows = ['a', 'b', 'c'].map((id) => ({ id }));
  t.strictSame(pageRead({ limit: 2 }), { after: '', limit: 3 });
  t.strictSame(
    page(rows, 2, ({ id }) => id),
    { data: ['a', 'b'], next: 'b' },
  );
  t.strictSame(
    page(rows, 3, ({ id }) => id),
    { data: ['a', 'b', 'c'] },
  );
  t.end();
});
