#!/usr/bin/env node
// The `svc` command: hands over to svc.ts under a Node that can run it.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { becomeTypeScript } from './node-runtime.mjs';

await becomeTypeScript(join(dirname(fileURLToPath(import.meta.url)), 'svc.ts'), process.argv.slice(2));
