/** The language of searches: what each of its forms finds, what is refused and where, and that the index excludes nothing that matches. */
import fc from 'fast-check';
import t from 'tap';
import type { LogLine } from './log-line.ts';
import { searchedText } from './log-line.ts';
import { matcherOf, parseQuery, QueryError } from './query.ts';
import { mayHold, TokenSet } from './token-filter.ts';
import { FILTERED_FIELDS, fieldHash, scanTokens } from './tokens.ts';

const line = (msg: string, more: Partial<LogLine> = {}): LogLine => ({
  uuid: '0123456789ABCDEF0123456789ABCDEF',
  ts: '',
  rcvd: '',
  host: 'web-1.example.com',
  fromhost_ip: '10.1.2.3',
  app: 'sshd',
  severity: 5,
  facility: 4,
  class: 'auth',
  msg,
  ...more,
});

/** Whether a frame that has the line alone would be read for the query. */
function mayBeRead(query: string, found: LogLine): boolean {
  const tokens = new TokenSet();
  scanTokens(searchedText(found), (token) => tokens.add(token));
  for (const field of FILTERED_FIELDS) tokens.add(fieldHash(field, found[field]));
  const filter = tokens.takeFilter();
  const { tokens: wanted, literal, severities } = matcherOf(parseQuery(query));
  const isLiteral = literal === undefined || JSON.stringify(found).toLowerCase().includes(literal);
  return wanted.every((token) => mayHold(filter, token)) && isLiteral && (severities & (1 << found.severity)) !== 0;
}

const finds = (query: string, found: LogLine): boolean => matcherOf(parseQuery(query)).matches(found);

const MSG =
  'Failed password for root from 192.168.7.9 port 4242: user=ann path=/srv/www.example.org/a-b.log, ERROR "disk full" Größe 错误日志 fe80::1 10.0.0.1:443';

t.test('each form of the language finds what it says, and not more', (t) => {
  for (const [query, isFound] of [
    ['', true],
    ['failed', true],
    ['FAILED root', true],
    ['fail', false],
    ['failed absent', false],
    ['192.168.7.9', true],
    ['192.168.7', false],
    ['168', true],
    ['10.0.0.1', true],
    ['10.0.0.1:443', true],
    ['443', true],
    ['fe80::1', true],
    ['www.example.org', true],
    ['example.org', true],
    ['example.com', true],
    ['web-1.example.com', true],
    ['a-b.log', true],
    ['user=ann', true],
    ['user=an', false],
    ['größe', true],
    ['错误', true],
    ['错日', false],
    ['"failed password for root"', true],
    ['"failed password for roo"', false],
    ['"ailed password"', false],
    ['"password root"', false],
    ['"from 192.168.7.9 port"', true],
    ['"\\"disk full\\""', true],
    ['-absent', true],
    ['-failed', false],
    ['failed -absent', true],
    ['failed -"disk full"', false],
    ['-"disk empty"', true],
    ['pass*', true],
    ['assword*', false],
    ['-pass*', false],
    ['192.168.*', true],
    ['192.168*', true],
    ['192.16*', true],
    ['host:web-1.example.com', true],
    ['host:WEB-1.EXAMPLE.COM', true],
    ['host:web-1', false],
    ['host:web-*', true],
    ['host:db*', false],
    ['-host:db-1', true],
    ['app:sshd', true],
    ['app:"sshd"', true],
    ['app:ssh', false],
    ['ip:10.1.2.3', true],
    ['fromhost_ip:10.1.2.3', true],
    ['ip:10.1.2.*', true],
    ['ip:10.1.2.4', false],
    ['10.1.2.3', true],
    ['class:auth', true],
    ['class:web', false],
    ['severity:5', true],
    ['severity:notice', true],
    ['severity:7', true],
    ['severity:4', false],
    ['severity:err', false],
    ['-severity:err', true],
    ['facility:4', true],
    ['facility:5', false],
    ['uuid:0123456789abcdef0123456789ABCDEF', true],
    ['0123456789abcdef0123456789abcdef', true],
    ['uuid:0123456789abcdef0123456789abcde0', false],
    ['msg:failed', true],
    ['msg:sshd', false],
    ['msg:"failed password"', true],
    ['msg:pass*', true],
    ['"or"', false],
  ] as const) {
    t.equal(finds(query, line(MSG)), isFound, query);
    if (isFound) t.ok(mayBeRead(query, line(MSG)), `the index does not exclude ${query}`);
  }
  t.end();
});

t.test('what is no query is refused where it goes wrong', (t) => {
  for (const [query, position, words] of [
    ['"open', 0, /not closed/],
    ['a "open', 2, /not closed/],
    ['"a"b', 3, /space/],
    ['a"b"', 1, /inside of a word/],
    ['-', 1, /missing/],
    ['a -', 3, /missing/],
    ['*', 0, /no letter/],
    ['a*b', 1, /end of a word/],
    ['()', 0, /no letter/],
    ['""', 0, /missing/],
    ['nofield:x', 0, /no field nofield/],
    ['a http://x', 2, /no field http/],
    ['host:', 5, /needs a value/],
    ['host:a*b', 6, /end of a value/],
    ['severity:8', 9, /0 to 7/],
    ['severity:bad', 9, /emerg/],
    ['facility:999', 9, /0 to 127/],
    ['a OR b', 2, /OR is no word/],
    ['NOT b', 0, /NOT is no word/],
    [Array.from({ length: 40 }, () => 'a').join(' '), 64, /more than 32/],
  ] as const) {
    const refused = (() => {
      try {
        parseQuery(query);
        return undefined;
      } catch (error) {
        return error;
      }
    })();
    t.ok(refused instanceof QueryError, query);
    t.match(refused, { position, message: words }, query);
  }
  t.end();
});

const PIECES = [
  'a',
  'Bc',
  'x9',
  '_',
  '.',
  '-',
  ':',
  '::',
  '"',
  '\\',
  '*',
  ' ',
  '  ',
  '=',
  '/',
  'host:',
  'msg:',
  'severity:3',
  'ü',
  '错',
  '10.0.0.1',
  'example.com',
  '\u0000',
  '[redacted]',
  '😀',
];
const text = (maxLength: number) =>
  fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 3 })), { maxLength })
    .map((all) => all.join(''));

t.test('any text is a query or is refused with a place in it', (t) => {
  fc.assert(
    fc.property(text(12), (query) => {
      try {
        const terms = parseQuery(query);
        matcherOf(terms).matches(line(MSG));
        return terms.length <= 32;
      } catch (error) {
        return error instanceof QueryError && error.position >= 0 && error.position <= query.length;
      }
    }),
    { numRuns: 2_000 },
  );
  t.end();
});

t.test('the index never excludes a line that matches', (t) => {
  let nFound = 0;
  fc.assert(
    fc.property(text(10), text(4), fc.nat(), fc.nat(20), (before, query, from, length) => {
      // A query of its own text is the one that is found.
      const own = before.slice(from % (before.length + 1)).slice(0, length);
      for (const each of [query, own, `"${own.replace(/[\\"]/g, '\\$&')}"`, `${own}*`, `msg:${own}`]) {
        try {
          const found = line(before);
          if (!finds(each, found)) continue;
          nFound += 1;
          if (!mayBeRead(each, found)) return false;
        } catch (error) {
          if (!(error instanceof QueryError)) throw error;
        }
      }
      return true;
    }),
    { numRuns: 3_000 },
  );
  t.ok(nFound > 500, `${nFound} were found`);
  t.end();
});

t.test('a filter has all that was added, and little else', (t) => {
  const set = new TokenSet();
  for (let i = 0; i < 50_000; i++) set.add(Math.imul(i + 1, 0x9e3779b1) >>> 0);
  const filter = set.takeFilter();
  t.equal(filter.length, 125_000);
  let nWrong = 0;
  for (let i = 0; i < 50_000; i++) {
    if (!mayHold(filter, Math.imul(i + 1, 0x9e3779b1) >>> 0)) t.fail('a token is lost');
    if (mayHold(filter, Math.imul(i + 1_000_001, 0x85ebca77) >>> 0)) nWrong += 1;
  }
  t.ok(nWrong < 100, `${nWrong} of 50,000 are taken for others`);
  t.equal(set.takeFilter().length, 8, 'it is empty again');
  t.end();
});
