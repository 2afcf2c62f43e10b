import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { INSTALL_ROOT } from '../../server/product.ts';
import { CliError } from '../cli-error.ts';
import { command } from '../command.ts';

export const bench = command({
  words: ['bench'],
  summary: 'Run a bench suite beside its rivals (in a checkout)',
  positionals: [{ name: 'SUITE', help: 'suite and its options; `svc bench --help` lists them', many: true }],
  passThrough: true,
  examples: ['svc bench --help', 'svc bench http --quick', 'svc bench serving --json', 'svc bench RESULTS.json --report'],
  async run({ positionals }) {
    const script = join(INSTALL_ROOT, 'bench', 'run.ts');
    if (!existsSync(script))
      throw new CliError(
        'not_found',
        'not_found',
        'the bench suites are not part of this installation',
        'run it from a checkout of the repository',
      );
    const child = spawn(process.execPath, [script, ...positionals], { stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code === 0 ? 'ok' : code === 2 ? 'usage' : 'failed';
  },
});
