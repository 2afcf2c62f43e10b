/** Preloaded into a node (`--import`), it has that speak the wire version before, as a program before the change of versions does. */
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/cluster/protocol/wire-version.ts')) return loaded;
    const source = String(loaded.source);
    const before = source.replace(/WIRE_VERSION = \d+;/, `WIRE_VERSION = ${/WIRE_BEFORE = (\d+);/.exec(source)?.[1]};`);
    if (before === source) throw new Error('the wire version is not where it was');
    return { ...loaded, source: before };
  },
});
