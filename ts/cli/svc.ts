/** The `svc` program. */
import { enableCompileCache } from 'node:module';
import { compileCacheFolder } from './compile-cache-folder.ts';

// Before anything else is loaded: a start of a checkout strips the types of each module and compiles it, unless that is kept.
const folder = compileCacheFolder(process.env);
if (folder !== undefined) enableCompileCache(folder);
const { main } = await import('./program.ts');

await main(process.argv.slice(2));
