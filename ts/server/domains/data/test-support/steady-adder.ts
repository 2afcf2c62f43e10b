/**
 * Ingests files and texts over HTTP, several at a time, and prints a JSON line for each that was acknowledged: at once, or with the job that
 * indexes it. Usage: node steady-adder.ts DATABASE_URL DATA_DIR FIRST. Ends by being killed.
 */
import type { Test } from 'tap';
import { writeDocx } from '../../../extraction/test-support/docx-writer.ts';
import { wrap, writePdf } from '../../../extraction/test-support/pdf-writer.ts';
import { openKnowledgeBed } from './knowledge-bed.ts';
import { largeDocx, upload } from './upload.ts';

export interface AdderLine {
  /** Its text names it, so that a document tells which one it was made of. */
  readonly n: number;
  readonly source: string;
  readonly job?: string;
}

/** A source comes again after so many: then it replaces what was there. */
const SOURCES = 500;
const ADDERS = 4;

const [, , url = '', dataDir = '', first = '0'] = process.argv;
const nobody = { teardown: () => undefined } as unknown as Test;
const noDatabase = () => Promise.reject(new Error('it has a database'));
const bed = await openKnowledgeBed(nobody, noDatabase, { url, dataDir, leaseMs: 300 });
let last = Number(first);

async function addNext(): Promise<void> {
  last += 1;
  const n = last;
  const source = `file-${n % SOURCES}`;
  const { status, body } = await send(n, source);
  if (status > 299) throw new Error(`${source} was answered ${status}: ${JSON.stringify(body)}`);
  const line: AdderLine = { n, source, ...(status === 202 && { job: body.job_id }) };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Of every kind and size in turn, the small ones more often. */
function send(n: number, source: string) {
  const line = `Document ${n} tells of sand, wind and the lighthouse. `;
  const text = line.repeat(1 + (n % 40));
  if (n % 37 === 0) return upload(bed, 'large.docx', largeDocx(text, 4_300_000), { source });
  if (n % 11 === 0) return bed.add(source, line.repeat(6_000));
  if (n % 4 === 0) return upload(bed, 'small.pdf', writePdf([wrap(text, 60, 60, 400).texts.slice(0, 50)]), { source });
  if (n % 4 === 1) return upload(bed, 'small.docx', writeDocx({ blocks: [{ type: 'paragraph', text }] }), { source });
  if (n % 4 === 2) return upload(bed, 'small.md', Buffer.from(`# Sand\n\n${text}`), { source });
  return bed.add(source, text);
}

await Promise.all(
  Array.from({ length: ADDERS }, async () => {
    for (;;) await addNext();
  }),
);
