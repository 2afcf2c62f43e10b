import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadNodeConfig } from '../../ts/server/settings.ts';
import { DRAIN_SECONDS, packagedConfig } from './packaged-config.ts';

t.test('a packaged svc lets open answers finish for as long as its unit waits, and sets nothing else', async (t) => {
  const root = t.testdir({ 'svc.toml': packagedConfig() });
  const { origins, values } = loadNodeConfig({ root, environment: {}, workingDirectory: root });
  const set = Object.entries(origins).flatMap(([key, origin]) => (origin === 'default' ? [] : [key]));
  t.strictSame(set, ['http.drain_timeout_seconds']);
  t.equal(values['http.drain_timeout_seconds'], DRAIN_SECONDS);
  for (const unit of ['svc.service', 'svc@.service']) {
    const text = readFileSync(join(import.meta.dirname, '../system', unit), 'utf8');
    const [, minutes] = /^TimeoutStopSec=(\d+)min$/m.exec(text) ?? [];
    t.ok(DRAIN_SECONDS <= Number(minutes) * 60 - 5, unit);
  }
});
