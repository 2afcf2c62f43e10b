/** A form that came as JSON. */
import t from 'tap';
import { BodyStream } from './body-stream.ts';
import { JsonForm } from './json-form.ts';

async function fieldsOf(text: string): Promise<[name: string, value: string][]> {
  const body = new BodyStream(10_000, { pause: () => {}, resume: () => {} });
  const bytes = new TextEncoder().encode(text);
  body.add(bytes.buffer, true);
  const fields: [string, string][] = [];
  for await (const { name, value } of new JsonForm(body)) fields.push([name, value]);
  return fields;
}

t.test('each member is a field, a list one for each value, and null none', async (t) => {
  t.strictSame(await fieldsOf('{"a":"x","b":true,"c":0.5,"d":[1,"2"],"e":null}'), [
    ['a', 'x'],
    ['b', 'true'],
    ['c', '0.5'],
    ['d', '1'],
    ['d', '2'],
  ]);
});

t.test('what is no form is refused', async (t) => {
  for (const text of ['', '{', '[]', '"a"', 'null', '{"a":{"b":1}}', '{"a":[[1]]}', '{"a":"\\u0000"}'])
    t.match(await fieldsOf(text).catch((error: unknown) => error), { name: 'HttpError', status: 400 }, text);
});
