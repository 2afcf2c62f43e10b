// node scripts/sources.mjs: fetches what native/sources.json pins and prints where each tree is.
import { runScript } from './setup/run-script.mjs';
import { fetchSource, readPins } from './setup/sources.mjs';

await runScript(async () => {
  for (const [name, pin] of Object.entries(readPins())) console.log(`${name}\t${await fetchSource(pin)}`);
});
