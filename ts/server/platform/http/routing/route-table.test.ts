import t from 'tap';
import Type from 'typebox';
import type { Route } from '../route.ts';
import { OK, plainRoute } from '../test-support/test-bed.ts';
import { RouteTable } from './route-table.ts';

const get = (path: string, more: Partial<Route> = {}): Route => plainRoute('GET', path, () => OK, more);

t.test('boot refuses what is not whole', (t) => {
  const lacking: [Partial<Route>, RegExp][] = [
    [{ auth: undefined as never }, /GET \/a lacks auth/],
    [{ maxBody: undefined as never }, /lacks maxBody/],
    [{ maxBody: -1 }, /lacks maxBody/],
    [{ responses: {} }, /lacks responses/],
    [{ path: 'a' }, /lacks a path that starts with/],
    [{ body: Type.Object({}) }, /maxBody above 0/],
    [{ probe: true }, /what a probe needs/],
  ];
  for (const [more, message] of lacking) t.throws(() => new RouteTable([get('/a', more)]), message);
  t.throws(() => new RouteTable([get('/a'), get('/a')]), /GET \/a is declared twice/);
  t.throws(() => new RouteTable([get('/a/{x}'), get('/a/{y}')]), /GET \/a\/\{y\} is declared twice/);
  t.end();
});

t.test('a fixed path wins over a pattern, whatever the order', (t) => {
  const table = new RouteTable([get('/models/{id}'), get('/models/all'), plainRoute('POST', '/models/{id}', () => OK)]);
  t.equal(table.find('GET', '/models/all')?.endpoint.route.path, '/models/all');
  t.equal(table.find('GET', '/models/x')?.endpoint.route.path, '/models/{id}');
  t.equal(table.find('POST', '/models/all')?.endpoint.route.path, '/models/{id}');
  t.strictSame(table.methodsOf('/models/all'), ['GET', 'HEAD', 'OPTIONS', 'POST']);
  t.strictSame(table.methodsOf('/models'), []);
  t.end();
});

t.test('parameters are single segments, decoded, never empty', (t) => {
  const table = new RouteTable([get('/a/{x}/b/{y}')]);
  t.strictSame(table.find('GET', '/a/1/b/2%2F3')?.segments, ['1', '2/3']);
  for (const path of ['/a//b/2', '/a/1/b', '/a/1/b/', '/a/1/b/2/', '/A/1/b/2']) t.equal(table.find('GET', path), undefined, path);
  t.throws(() => table.find('GET', '/a/%zz/b/2'), { code: 'invalid_path' });
  t.end();
});
