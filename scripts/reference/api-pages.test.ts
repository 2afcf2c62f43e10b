import t from 'tap';
import Type from 'typebox';
import { json, route } from '../../ts/server/platform/http/route.ts';
import { errorsPage, routesPage } from './api-pages.ts';
import { table } from './markdown.ts';

const routes = [
  route({
    method: 'POST',
    path: '/api/v1/ferries',
    auth: 'admin',
    scope: 'ferries:write',
    maxBody: 100,
    tag: 'Ferries',
    summary: 'Launch a ferry',
    responses: { 200: Type.Object({}) },
    errors: [{ status: 409, code: 'harbour_full', meaning: 'The harbour has no berth left.', remedy: 'Sail | wait.' }],
    handle: () => json(200, {}),
  }),
];

t.test('a route is listed with its policy and scope', async (t) => {
  t.match(routesPage(routes), '| `POST /api/v1/ferries` | `admin` | `ferries:write` | Launch a ferry |');
});

t.test('an error is listed with status and remedy, and links to the guides that name it', async (t) => {
  const guides = new Map([
    ['operate/harbour.md', 'On 409 `harbour_full` wait.'],
    ['use/other.md', 'Nothing of harbour_full.'],
  ]);
  const page = errorsPage(routes, guides);
  const row =
    '| `harbour_full` | 409 | The harbour has no berth left. | Sail \\| wait. | [operate/harbour](../operate/harbour.md) |';
  t.ok(page.split('\n').includes(row), page);
  t.match(page, /^\| `insufficient_scope` \| 403 \|/m, 'with those that the frame gives');
  t.match(page, /^\| `not_found` \| 404 \|/m, 'and those without a route');
});

t.test('a table has one row for each and keeps what separates cells', async (t) => {
  t.equal(table(['A', 'B'], [['x|y', 'z']]), '| A | B |\n| --- | --- |\n| x\\|y | z |');
});
