import fc from 'fast-check';
import t from 'tap';
import Type from 'typebox';
import { ignoredMember, refusedMember } from './member-effect.ts';
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
