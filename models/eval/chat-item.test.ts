import t from 'tap';
import { type ChatItem, isInLanguage, isRight, matchesSchema } from './chat-item.ts';

const item = (expected: ChatItem['expected']): ChatItem => ({ messages: [], expected });
const says = (content: string) => ({ content });
const calls = (...functions: { name: string; arguments: string }[]) => ({
  content: null,
  tool_calls: functions.map((called) => ({ function: called })),
});

t.test('a value counts with its citation and no other', async (t) => {
  const value = item({ ending: '30 m [2].' });
  t.ok(isRight(value, says('The height of Korvat is 30 m [2].')));
  t.ok(isRight(value, says('30 m [2].')));
  t.notOk(isRight(value, says('The height of Korvat is 30 m [1].')));
  t.notOk(isRight(value, says('The height of Korvat is 130 m [2].')));
  t.notOk(isRight(value, says('It is 20 m [1] or 30 m [2].')));
});

t.test('a value is not the end of a longer one where the word before it is told', async (t) => {
  const value = item({ ending: 'is Karvo [2].' });
  t.ok(isRight(value, says('The origin of Tirun is Karvo [2].')));
  t.notOk(isRight(value, says('The origin of Tirun is San Karvo [2].')));
});

t.test('a refusal counts without a citation', async (t) => {
  const refusal = item({ refusal: 'not in the passages.' });
  t.ok(isRight(refusal, says('The height of Korvat is not in the passages.')));
  t.notOk(isRight(refusal, says('The height of Korvat is 30 m [2].')));
  t.notOk(isRight(refusal, says('The height of Korvat is 30 m [2], or not in the passages.')));
});

t.test('an answer over passages is in the language that its beginning tells', async (t) => {
  const german: ChatItem = { ...item({ ending: '30 m [2].' }), language: 'de' };
  t.ok(isInLanguage(german, says('Zu Korvat, Höhe: 30 m [2].')));
  t.notOk(isInLanguage(german, says('The height of Korvat is 30 m [2].')));
  t.ok(isInLanguage({ ...german, language: 'en' }, says('When Korvat was built: 1912 [2].')));
});

t.test('a call counts by its name and the value of its arguments', async (t) => {
  const call = item({ call: { name: 'find_ship', arguments: { name: 'Korvat', year: 1912 } } });
  t.ok(isRight(call, calls({ name: 'find_ship', arguments: '{"year": 1912, "name": "Korvat"}' })));
  t.notOk(isRight(call, calls({ name: 'find_ship', arguments: '{"year": "1912", "name": "Korvat"}' })));
  t.notOk(isRight(call, calls({ name: 'find_boat', arguments: '{"year": 1912, "name": "Korvat"}' })));
  t.notOk(isRight(call, says('{"year": 1912, "name": "Korvat"}')));
});

t.test('words count when nothing was called', async (t) => {
  const words = item({ text: 'I have no tool for that.' });
  t.ok(isRight(words, says(' I have no tool for that.')));
  t.notOk(isRight(words, { ...says('I have no tool for that.'), ...calls({ name: 'a', arguments: '{}' }) }));
});

t.test('JSON counts by value, and is checked by its schema', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'], additionalProperties: false };
  const json = { ...item({ json: { a: 1 } }), schema };
  t.ok(isRight(json, says('{ "a": 1 }')));
  t.notOk(isRight(json, says('{"a": 2}')));
  t.ok(matchesSchema(json, says('{"a": 2}')));
  t.notOk(matchesSchema(json, says('{"a": 2, "b": 1}')));
  t.notOk(matchesSchema(json, says('{"a": 2.5}')));
  t.notOk(matchesSchema(json, says('{}')));
  t.notOk(matchesSchema(json, says('a: 2')));
});
