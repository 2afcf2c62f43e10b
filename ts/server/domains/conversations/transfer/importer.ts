/** Reads an export file as it arrives, and stores its conversations one after the other. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ConversationError } from '../errors.ts';
import { MAX_IMPORTED_BYTES } from '../limits.ts';
import type { Owner } from '../owner.ts';
import type { ImportStore } from '../store/import-store.ts';
import { ElementSplitter, type SplitElement } from './element-splitter.ts';
import { readConversation } from './import-formats.ts';

export interface ImportReport {
  imported: number;
  /** Were there already. */
  skipped: number;
  messages: number;
  /** Of the file's conversations, counted from 0, the first that could not be read. */
  failed: { index: number; reason: string }[];
}

const MAX_REPORTED = 100;

export async function importFile(
  store: ImportStore,
  owner: Owner,
  body: AsyncIterable<Uint8Array>,
  now: number,
): Promise<ImportReport> {
  const report: ImportReport = { imported: 0, skipped: 0, messages: 0, failed: [] };
  const splitter = new ElementSplitter(MAX_IMPORTED_BYTES);
  let index = 0;
  for await (const chunk of body) {
    for (const element of splitter.push(chunk)) {
      await importElement(store, owner, element, now, report, index);
      index += 1;
    }
    await nextTurn();
  }
  splitter.end();
  return report;
}

async function importElement(
  store: ImportStore,
  owner: Owner,
  element: SplitElement,
  now: number,
  report: ImportReport,
  index: number,
): Promise<void> {
  try {
    const read = readConversation(parse(element), now);
    if (read === undefined) throw unknownFormat();
    const isNew = await store.insert(owner, read, now);
    if (!isNew) report.skipped += 1;
    else {
      report.imported += 1;
      report.messages += read.messages.length;
    }
  } catch (error) {
    if (!(error instanceof ConversationError) || error.code !== 'invalid_import') throw error;
    if (report.failed.length < MAX_REPORTED) report.failed.push({ index, reason: error.message });
  }
}

function parse(element: SplitElement): unknown {
  if (element.kind === 'too_large')
    throw new ConversationError('invalid_import', `The conversation is larger than ${MAX_IMPORTED_BYTES} bytes.`);
  try {
    return JSON.parse(element.bytes.toString('utf8'));
  } catch {
    throw new ConversationError('invalid_import', 'The conversation is not valid JSON.');
  }
}

function unknownFormat(): ConversationError {
  const detail =
    'The conversation has none of the formats that are read: an export of this program, of ChatGPT or of Open WebUI.';
  return new ConversationError('invalid_import', detail);
}
