/** Brings the database that its argument names to this version, and ends. To be killed meanwhile. */
import { createStorage } from '../platform/storage/index.ts';
import { allMigrations } from './earlier-schema.ts';

const storage = createStorage({ url: `sqlite:${process.argv[2]}`, modules: allMigrations() });
console.log('begins');
await storage.open();
await storage.close();
console.log('done');
