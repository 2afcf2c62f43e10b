/** `svc license`: what the installation may do, and how a license comes to it. */
import { readFileSync, statSync } from 'node:fs';
import type { Answer, Body } from '../../client/client.ts';
import { inspectLicense, MAX_LICENSE_BYTES, productKeys } from '../../server/domains/license/index.ts';
import { CliError } from '../cli-error.ts';
import { command } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { requestCommand } from '../server-command.ts';

type License = Answer<'GET /api/v1/license/health'>;
type LicenseFile = Body<'PUT /api/v1/license'>;

const fileArgument = [{ name: 'FILE', help: 'the license file' }] as const;

export const licenseShow = requestCommand({
  words: ['license', 'show'],
  summary: 'Show the license of a running server, or how long it can be evaluated',
  examples: ['svc license show'],
  route: 'GET /api/v1/license/health',
  text: factsOf,
});

export const licenseInstall = requestCommand({
  words: ['license', 'install'],
  summary: 'Install a license on a running server; it holds at once',
  positionals: fileArgument,
  examples: ['svc license install license.json'],
  route: 'PUT /api/v1/license',
  given: ({ positionals: [path = ''] }) => ({ body: readLicense(path) }),
  text: factsOf,
});

export const licenseVerify = command({
  words: ['license', 'verify'],
  summary: 'Check a license file without a server: its signature, and what it says',
  positionals: fileArgument,
  examples: ['svc license verify license.json'],
  async run({ positionals, terminal }) {
    const inspection = inspectLicense(JSON.stringify(readLicense(positionals[0] ?? '')), productKeys);
    if ('fault' in inspection) {
      const { code, detail } = inspection.fault;
      terminal.result({ ok: false, error: code, detail }, `the license cannot be used: ${detail}`);
      return 'verification_failed';
    }
    const { terms } = inspection;
    const rows = Object.entries(terms).map(([name, value]) => [
      name,
      printable(Array.isArray(value) ? value.join(' ') : String(value ?? '-')),
    ]);
    terminal.result({ ok: true, terms }, `the signature is good\n${formatTable(['TERM', 'VALUE'], rows)}`);
    return 'ok';
  },
});

/** What the members are, the server says. Throws CliError for a file that is not there, or no JSON. */
function readLicense(path: string): LicenseFile {
  try {
    if (statSync(path).size > MAX_LICENSE_BYTES) throw new Error('it is too large to be a license');
    return JSON.parse(readFileSync(path, 'utf8')) as LicenseFile;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'there is no such file' : (error as Error).message.slice(0, 200);
    throw new CliError(
      isMissing ? 'not_found' : 'failed',
      'license_unreadable',
      `${path} cannot be read: ${why}`,
      'name the file that you were sent',
      error,
    );
  }
}

function factsOf(license: License): string {
  const { status, tier, features, installation, license_id: id, licensee, problem } = license;
  const rows = [
    ['status', status],
    ['tier', printable(tier)],
    ['features', features.join(' ')],
    ['license', id ?? 'none'],
    ['licensee', printable(licensee ?? '-')],
    ['expires', license.expires_at ?? 'never'],
    ['grace ends', license.grace_ends_at ?? '-'],
    ['installation', installation],
    ...(problem === null ? [] : [['problem', printable(`${problem.code}: ${problem.detail}`)]]),
  ];
  return formatTable(['LICENSE', ''], rows);
}
