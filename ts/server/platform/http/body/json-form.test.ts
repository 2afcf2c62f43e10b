/** A form that came as JSON. */
import t from 'tap';
import { BodyStream } from './body-stream.ts';
import { JsonForm } from './json-form.ts';

async function fieldsOf(text: string, mostFields?: number): Promise<[name: string, value: string][]> {
  const body = new BodyStream(1_000_000, { pause: () => {}, resume: () => {} });
  const bytes = new TextEncoder().encode(text);
  body.add(bytes.buffer, true);
  const fields: [string, string][] = [];
  for await (const { name, value } of new JsonForm(body, mostFields)) fields.push([name, value]);
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

t.test('a list has no more values than a form may have fields', async (t) => {
  const form = (nValues: number) => JSON.stringify({ a: 'x', times: Array.from({ length: nValues }, () => 0) });
  t.equal((await fieldsOf(form(127), 128)).length, 128);
  for (const nValues of [128, 100_000])
    t.match(await fieldsOf(form(nValues), 128).catch((error: unknown) => error), { status: 400, code: 'too_many_parts' });
});
