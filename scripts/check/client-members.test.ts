import t from 'tap';
import { programParts } from '../reference/reference-pages.ts';
import { checkClientMembers } from './client-members.ts';

t.setTimeout(120_000);

t.test('a member of a client that stands in no table is found, within objects too', async (t) => {
  const { routes } = await programParts();
  const path = '/v1/chat/completions';
  const without = routes.map((route) => {
    if (route.path !== path) return route;
    const body = structuredClone(route.body) as { properties: Record<string, { properties: object }> };
    Reflect.deleteProperty(body.properties, 'verbosity');
    Reflect.deleteProperty(body.properties['stream_options']?.properties ?? {}, 'include_obfuscation');
    return { ...route, body };
  });
  const { problems } = checkClientMembers(process.cwd(), without);
  t.strictSame(problems.map((each) => each.replace(/^.*: /, '')).sort(), [
    'stream_options.include_obfuscation is in no table',
    'verbosity is in no table',
  ]);
  const gone = checkClientMembers(
    process.cwd(),
    routes.filter((route) => route.path !== path),
  );
  t.match(gone.problems, [/there is no route POST \/v1\/chat\/completions/]);
});
