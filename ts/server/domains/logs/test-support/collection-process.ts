/** A process that collects, as a node does, to be killed by tests. Its arguments: the data folder, and a configuration to be applied or nothing. */
import { join } from 'node:path';
import { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { Log } from '../../../platform/log/log.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { Collection } from '../collection/collection.ts';
import type { CollectionConfig } from '../collection/collection-config.ts';

const [, , dataDir = '', config] = process.argv;
const collection = new Collection({
  dataDir,
  runner: 'child',
  log: new Log({ level: 'error', format: 'json', sink: { write: () => undefined, flush: () => undefined } }),
  metrics: new MetricsRegistry(),
  sealingKey: () => SealingKey.open(join(dataDir, 'sealing.key')),
  now: Date.now,
});
await collection.start();
if (config !== undefined) {
  await collection.configure(JSON.parse(config) as CollectionConfig);
  await collection.apply();
}
process.once('SIGTERM', () => void collection.stop().then(() => process.exit(0)));
process.stdout.write('{"collects":true}\n');
setInterval(() => undefined, 60_000);
