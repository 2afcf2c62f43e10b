import fc from 'fast-check';
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

t.test('a wildcard takes the rest of the path, and anything more exact wins over it', (t) => {
  const table = new RouteTable([
    get('/files/*'),
    get('/files/{id}/info'),
    get('/files/all'),
    plainRoute('POST', '/files/*', () => OK),
  ]);
  const found = (path: string, method = 'GET') => table.find(method, path)?.endpoint.route.path;
  t.equal(found('/files/a'), '/files/*');
  t.equal(found('/files/a/b/c.js'), '/files/*');
  t.equal(found('/files/a/info'), '/files/{id}/info');
  t.equal(found('/files/all'), '/files/all');
  t.equal(found('/files/all', 'POST'), '/files/*');
  t.strictSame(table.find('GET', '/files/a/b%20c/')?.parameters, ['a/b%20c/']);
  for (const path of ['/files', '/files/', '/file/a', '/']) t.equal(found(path), undefined, path);
  t.strictSame(table.methodsOf('/files/a/info'), ['GET', 'HEAD', 'OPTIONS', 'POST']);
  t.throws(() => new RouteTable([get('/files/*'), get('/files/*')]), /declared twice/);
  t.throws(() => new RouteTable([get('/a*b/c')]), /wildcard is its last segment/);
  t.end();
});

t.test('whatever paths are declared, the walk finds what a comparison of all of them finds', (t) => {
  const segment = fc.constantFrom('a', 'b', '{x}');
  const pattern = fc.tuple(fc.array(segment, { minLength: 1, maxLength: 3 }), fc.boolean());
  const declared = fc.uniqueArray(pattern, { maxLength: 8, selector: ([segments, isOpen]) => `${segments}${isOpen}` });
  const asked = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(declared, asked, (patterns, segments) => {
      const table = new RouteTable(patterns.map(([parts, isOpen]) => get(`/${parts.join('/')}${isOpen ? '/*' : ''}`)));
      const fits = patterns.some(([parts, isOpen]) => {
        const rest = segments.slice(parts.length).join('/');
        const isLongEnough = isOpen ? rest !== '' : segments.length === parts.length;
        return isLongEnough && parts.every((part, i) => (part === '{x}' ? (segments[i] ?? '') !== '' : part === segments[i]));
      });
      return (table.find('GET', `/${segments.join('/')}`) !== undefined) === fits;
    }),
  );
  t.end();
});

t.test('parameters are single segments, decoded, never empty', (t) => {
  const table = new RouteTable([get('/a/{x}/b/{y}')]);
  t.strictSame(table.find('GET', '/a/1/b/2%2F3')?.parameters, ['1', '2%2F3']);
  for (const path of ['/a//b/2', '/a/1/b', '/a/1/b/', '/a/1/b/2/', '/A/1/b/2']) t.equal(table.find('GET', path), undefined, path);
  const match = table.find('GET', '/a/%zz/b/2');
  t.throws(() => match?.endpoint.readParams(match.parameters), { code: 'invalid_path' });
  t.end();
});

t.test('a path or query that is no text is refused', (t) => {
  const query = Type.Object({ q: Type.Optional(Type.String()) });
  const params = Type.Object({ id: Type.String() });
  const { endpoint } = new RouteTable([get('/a/{id}', { params, query })]).find('GET', '/a/x') ?? {};
  for (const wrong of ['%00', 'a%00b', '%ff', '%c0%80', '%ed%a0%80', '%f0%9f', '\uFFFD', 'a\0']) {
    t.throws(() => endpoint?.readParams([wrong]), { status: 400, code: 'invalid_path' }, wrong);
    t.throws(() => endpoint?.readQuery(`q=${wrong}`), { status: 400, code: 'invalid_request', param: 'q' }, wrong);
    t.throws(() => endpoint?.readQuery(`${wrong}=1`), { status: 400, code: 'invalid_request' }, wrong);
  }
  t.strictSame(endpoint?.readParams(['%EF%BF%BD']), { id: '\uFFFD' }, 'a character as any other, where it was sent as such');
  t.end();
});

t.test('a query of texts reads as URLSearchParams reads it', (t) => {
  const { endpoint } = new RouteTable([get('/a')]).find('GET', '/a') ?? {};
  const piece = fc.oneof(fc.string(), fc.constantFrom('+', '%', '%2', '%zz', '=', '&', '%26', ';', '#'));
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('').replaceAll('\0', ''));
  fc.assert(
    fc.property(text, (query) => {
      // The first question mark is that of the address, which it leaves out.
      const wanted = [...new URLSearchParams(`?${query}`)];
      if (wanted.some(([name, value]) => /[\0\uFFFD]/.test(name + value) || name === '__proto__')) return true;
      if (new Set(wanted.map(([name]) => name)).size < wanted.length) return true;
      return JSON.stringify(endpoint?.readQuery(query)) === JSON.stringify(Object.fromEntries(wanted));
    }),
  );
  t.end();
});
