import fc from 'fast-check';
import t from 'tap';
import Type from 'typebox';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { ignoredMember, refusedMember } from './member-effect.ts';
import { FEW_MEMBERS } from './narrow.ts';
import { SchemaCheck } from './schema-check.ts';

const part = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({ type: Type.Literal('image_url'), image_url: Type.Object({ url: Type.String() }) }),
]);
const check = new SchemaCheck(
  Type.Object({
    model: Type.String({ minLength: 1 }),
    n: Type.Optional(Type.Integer({ minimum: 1, maximum: 4 })),
    stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 }), Type.Null()])),
    format: Type.Optional(Type.Union([Type.Literal('float'), Type.Literal('base64')])),
    content: Type.Optional(Type.Union([Type.String(), Type.Array(part)])),
  }),
);
const sentence = (value: unknown): string | undefined => check.findFault(value, 'the request body')?.sentence;

t.test('a value that fits has no fault, whatever else it holds', (t) => {
  t.equal(sentence({ model: 'a', n: 2, more: { deep: true } }), undefined);
  t.end();
});

t.test('a fault names the member, what is accepted and what was given', (t) => {
  t.equal(sentence({}), '`model` is required: a string that is not empty.');
  t.equal(sentence({ model: 'a', n: 9 }), '`n` must be an integer from 1 to 4; 9 was given.');
  t.equal(sentence({ model: 'a', n: 1.5 }), '`n` must be an integer from 1 to 4; 1.5 was given.');
  t.equal(sentence({ model: 'a', format: 'hex' }), '`format` must be one of "float", "base64"; "hex" was given.');
  t.equal(sentence([]), 'the request body must be an object; an array of 0 items was given.');
  t.end();
});

t.test('an object with too many members is told how many it may have', (t) => {
  const check = new SchemaCheck(Type.Object({ headers: Type.Record(Type.String(), Type.String(), { maxProperties: 2 }) }));
  const sentence = '`headers` must be an object of at most 2 members; one of 3 was given.';
  t.strictSame(check.findFault({ headers: { a: '', b: '', c: '' } }, 'the body'), { member: 'headers', sentence });
  t.end();
});

t.test('a value with very many members gets the sentence that a small one gets', (t) => {
  const Entry = Type.Object({ text: Type.String({ maxLength: 9 }) }, { additionalProperties: false });
  const parts = Type.Array(Type.Union([Type.String(), Entry]));
  const names = Type.Record(Type.String(), parts, { maxProperties: 3_000 });
  const check = new SchemaCheck(Type.Object({ model: Type.String(), names, list: Type.Array(Entry, { maxItems: 3_000 }) }));
  const list = (n: number): unknown[] => Array.from({ length: n }, () => ({ text: 'a' }));
  const map = (n: number): Record<string, unknown> => Object.fromEntries(list(n).map((entry, i) => [`a/${i}`, ['b', entry]]));
  const with_ = (more: object): string | undefined =>
    check.findFault({ model: 'a', names: map(3_000), list: list(3_000), ...more }, 'the request body')?.sentence;
  t.equal(with_({}), undefined);
  t.equal(with_({ model: undefined }), '`model` must be a string; nothing was given.');
  t.equal(
    with_({ list: list(3_001) }),
    '`list` must be an array with at most 3000 items, each an object; an array of 3001 items was given.',
  );
  t.equal(with_({ names: map(50_000) }), '`names` must be an object of at most 3000 members; one of 50000 was given.');
  fc.assert(
    fc.property(fc.nat(2_999), fc.boolean(), (at, isLast) => {
      const faulty = map(3_000);
      faulty[`a/${at}`] = isLast ? [...list(500), { text: 1 }] : [{ text: 1 }, ...list(500)];
      const named = `names.a/${at}[${isLast ? 500 : 0}].text`;
      t.equal(with_({ names: faulty }), `\`${named}\` must be a string of at most 9 characters; 1 was given.`);
      const items = list(3_000);
      items[at] = { text: 'a', more: 1 };
      t.equal(with_({ list: items }), `\`list[${at}].more\` is not known here; leave it out.`);
    }),
    { numRuns: iterations(8, 200) },
  );
  t.end();
});

t.test('few members of a value are described, however many it has', (t) => {
  // The compiled check reads nothing of the schema; the description reads it for each member.
  let nReads = 0;
  const read = (): number => {
    nReads++;
    return 4;
  };
  const item = Object.defineProperty(Type.String({ maxLength: 4 }), 'maxLength', { enumerable: true, get: read });
  const Names = Type.Array(item, { maxItems: 1_000 });
  const check = new SchemaCheck(Type.Object({ names: Type.Optional(Names), any: Type.Optional(Type.Array(item)) }));
  const readsOf = (value: unknown): number => {
    check.findFault({ names: [1] }, 'the request body');
    nReads = 0;
    t.ok(check.findFault(value, 'the request body'));
    return nReads;
  };
  const texts = (n: number): unknown[] => Array.from({ length: n }, () => 'a');
  for (const value of [
    { names: texts(40_000) },
    { any: [...texts(40_000), 'too long'] },
    { any: texts(40_000).fill('too long') },
  ])
    t.ok(readsOf(value) < 4 * FEW_MEMBERS, `read ${nReads} times`);
  t.end();
});

t.test('a part of a value says nothing where members are judged by their neighbours', (t) => {
  const check = new SchemaCheck(Type.Array(Type.Integer(), { uniqueItems: true }));
  t.match(check.findFault([1, 1], 'the list'), { sentence: /^the list must be/ });
  t.strictSame(check.findFault([...Array(500).keys(), 0], 'the list'), { member: '', sentence: 'the list is not valid.' });
  const many = Object.fromEntries([...Array(500).keys()].map((i) => [`m${i}`, 1]));
  const name = Type.Optional(Type.String());
  const closed = new SchemaCheck(Type.Object({ name }, { additionalProperties: false, minProperties: 1 }));
  t.match(closed.findFault(many, 'the body'), { member: 'm0' }, 'but a closed object names all that it takes');
  t.end();
});

t.test('a union that nothing enters lists its branches', (t) => {
  t.equal(
    sentence({ model: 'a', stop: 5 }),
    '`stop` must be a string, or an array with at most 4 items, each a string, or null; 5 was given.',
  );
  t.end();
});

t.test('a union of parts is judged by the discriminator', (t) => {
  t.equal(sentence({ model: 'a', content: [{ type: 'image_url' }] }), '`content[0].image_url` is required: an object.');
  t.equal(
    sentence({ model: 'a', content: [{ type: 'image_url', image_url: { url: 1 } }] }),
    '`content[0].image_url.url` must be a string; 1 was given.',
  );
  t.equal(
    sentence({ model: 'a', content: [{ type: 'video' }] }),
    '`content[0].type` must be one of "text", "image_url"; "video" was given.',
  );
  t.end();
});

t.test('a member is named that a closed object does not know', (t) => {
  const closed = new SchemaCheck(Type.Object({ id: Type.Optional(Type.String()) }, { additionalProperties: false }));
  const fault = closed.findFault({ name: 'x' }, 'the query');
  t.strictSame(fault, { member: 'name', sentence: '`name` is not known here; leave it out.' });
  t.end();
});

t.test('a member that the schema names as refused is told apart, with what to do in its place', (t) => {
  const options = Type.Optional(Type.Object({ mode: refusedMember('There is one mode.', { enum: [null, 'plain'] }) }));
  const members = new SchemaCheck(
    Type.Object({ audio: refusedMember('Answers are text.'), options, user: ignoredMember('Unused.') }),
  );
  t.equal(members.findFault({ audio: null, options: { mode: 'plain' }, user: [1] }, 'the request body'), undefined);
  t.strictSame(members.findFault({ audio: { voice: 'x' } }, 'the request body'), {
    member: 'audio',
    sentence: '`audio` is not served with this value. Answers are text.',
    isUnsupported: true,
  });
  const nested = members.findFault({ options: { mode: 'fast' } }, 'the request body');
  t.match(nested, { member: 'options.mode', sentence: /There is one mode/ });
  t.end();
});

t.test('what was given is shortened', (t) => {
  t.ok((sentence({ model: 'a', n: 'x'.repeat(100_000) }) ?? '').length < 200);
  t.end();
});

t.test('any JSON value fits or gets a sentence', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const fault = check.findFault({ model: 'a', content: value }, 'the request body');
      if (fault !== undefined) return fault.sentence.length > 10 && fault.member.startsWith('content');
      return true;
    }),
  );
  t.end();
});
