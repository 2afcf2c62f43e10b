import type { Client } from '../../client/client.ts';
import { pauseFor } from '../../client/retry.ts';
import { usageError } from '../cli-error.ts';
import { printable } from '../format.ts';
import { hasEnded, type Job } from '../job.ts';
import { type DocumentFile, findDocumentFiles } from '../knowledge/document-files.ts';
import { type Outcome, type SentFile, sendFile, sentFile, sha256OfFile } from '../knowledge/file-upload.ts';
import { DEFAULT_NAMESPACE, documentsOf, namespaceOption, tenantOf } from '../knowledge/knowledge-client.ts';
import { SentBytes, sideBySide } from '../knowledge/side-by-side.ts';
import type { Progress } from '../progress-bar.ts';
import { serverCommand } from '../server-command.ts';

/** What became of the files. */
interface LeftFile {
  path: string;
  reason: string;
}

interface Report {
  added: number;
  unchanged: number;
  /** Kept by the server, and found by no search. */
  stored: LeftFile[];
  /** What the server did not read of files that it indexed. */
  warnings: LeftFile[];
  skipped: LeftFile[];
  /** What is to be known of the knowledge base, where this command made it. */
  note?: string;
}

const POLL_MS = 500;
/** While one file is embedded, others are on their way. */
const SENT_AT_ONCE = 4;

export const kbAdd = serverCommand({
  words: ['kb', 'add'],
  summary: 'Add files and folders to a knowledge base; unchanged files are skipped, and what was cut off goes on',
  positionals: [{ name: 'PATH', help: 'text, PDF, Office and other files, or folders to search through', many: true }],
  options: namespaceOption,
  examples: ['svc kb add docs/', 'svc kb add --namespace handbook README.md reports/2026.pdf'],
  async run({ options, positionals, client, terminal, signal }) {
    const { files, skipped } = await findDocumentFiles(positionals, process.cwd());
    if (files.length === 0)
      throw usageError('there are no documents in what was named', 'name text, PDF and Office files, or their folder');
    const tenant = await tenantOf(client);
    const { namespace = DEFAULT_NAMESPACE } = options;
    const known = new Map((await documentsOf(client, tenant, namespace)).map(({ source, sha256 }) => [source, sha256]));
    const report: Report = { added: 0, unchanged: 0, stored: [], warnings: [], skipped: [...skipped] };
    let hasFailed = false;
    const note = (file: DocumentFile, sent: SentFile) => {
      if ('refused' in sent) {
        report.skipped.push({ path: file.path, reason: sent.refused });
        // Some of the files that were only found in a folder may be of no use to anyone; what the server could not do now is a failure.
        hasFailed ||= file.isNamed || sent.isTemporary === true;
      } else if ('state' in sent && sent.state === 'stored') report.stored.push({ path: file.path, reason: sent.detail });
      else {
        report.added += 1;
        if ('warnings' in sent) report.warnings.push(...sent.warnings.map((reason) => ({ path: file.path, reason })));
      }
    };
    const total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const progress = terminal.progress();
    const jobs: { file: DocumentFile; id: string }[] = [];
    const sizes = new SentBytes();
    const label = `adding ${files.length} files`;
    const show = () => progress.update(label, sizes.sum, total);
    await sideBySide(files, SENT_AT_ONCE, async (file) => {
      const sha256 = await sha256OfFile(file.path, signal);
      if (known.get(file.source) === sha256) report.unchanged += 1;
      else {
        const onProgress = (doneBytes: number) => {
          sizes.set(file, doneBytes);
          show();
        };
        const onNote = (text: string) => {
          report.note = text;
        };
        const sent = await sendFile(file, sha256, { client, tenant, namespace, signal, onProgress, onNote });
        if ('job' in sent) jobs.push({ file, id: sent.job });
        else note(file, sent);
      }
      sizes.set(file, file.sizeBytes);
      show();
    });
    for (const { file, id } of jobs) note(file, await endOf(client, id, file, progress, signal));
    progress.end();
    // Until here they are in the order in which they ended, which differs from time to time.
    for (const list of [report.stored, report.warnings, report.skipped]) list.sort((a, b) => (a.path < b.path ? -1 : 1));
    terminal.result({ namespace, ...report }, textOf(namespace, report));
    return hasFailed ? 'failed' : 'ok';
  },
});

async function endOf(client: Client, id: string, file: DocumentFile, progress: Progress, signal: AbortSignal): Promise<SentFile> {
  for (;;) {
    const job = await client.call('GET /api/v1/system/jobs/{id}', { params: { id } });
    if (job.state === 'done') return sentFile((job.result ?? {}) as Outcome);
    if (hasEnded(job)) return { refused: printable(failureOf(job)), isTemporary: job.error?.code === 'embedding_failed' };
    const { done = 0, total = null } = job.progress ?? {};
    if (total !== null && total > 0) {
      const doneBytes = Math.round((done / total) * file.sizeBytes);
      progress.update(`indexing ${printable(file.source)}`, doneBytes, file.sizeBytes);
    }
    await pauseFor(POLL_MS, signal);
  }
}

function failureOf({ id, state, error }: Job): string {
  if (error === null) return `the job ${id} is ${state}; add the file again`;
  return `${error.code}: ${[error.detail, error.remedy ?? 'Add the file again.'].join(' ')}`;
}

const MOST_SHOWN = 10;

function textOf(namespace: string, { added, unchanged, stored, warnings, skipped, note }: Report): string {
  const kept = stored.length === 0 ? '' : `, ${stored.length} stored without an index`;
  const head = `${printable(namespace)}: ${added} added, ${unchanged} unchanged${kept}, ${skipped.length} left out`;
  const lists = [...listed('stored', stored), ...listed('not whole', warnings), ...listed('left out', skipped)];
  return [head, ...(note === undefined ? [] : [note]), ...lists].join('\n');
}

function listed(what: string, files: readonly LeftFile[]): string[] {
  const lines = files.slice(0, MOST_SHOWN).map(({ path, reason }) => `  ${what}: ${printable(path)}: ${printable(reason)}`);
  return files.length > MOST_SHOWN ? [...lines, `  and ${files.length - MOST_SHOWN} more`] : lines;
}
