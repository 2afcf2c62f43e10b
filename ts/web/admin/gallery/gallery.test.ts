/** The page of components is complete: whatever the design has is shown there. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const admin = join(import.meta.dirname, '..');
/** What is shown as part of others, and what shows nothing itself. */
const PARTS = new Set(['field.tsx', 'lazy.tsx']);

t.test('every component of the design is on the page that shows them', async (t) => {
  const pages = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.tsx'));
  const sources = [join(admin, 'screens/components.tsx'), ...pages.map((name) => join(import.meta.dirname, name))];
  const text = sources.map((path) => readFileSync(path, 'utf8')).join('\n');
  const components = readdirSync(join(admin, '../design')).filter((name) => name.endsWith('.tsx') && !PARTS.has(name));
  t.ok(components.length > 15);
  t.strictSame(
    components.filter((name) => !text.includes(`/design/${name}'`)),
    [],
  );
});
