/** How the body of an ingest is read: large ones in a worker thread. */
import type { BodyReading } from '../../../platform/http/route.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { IngestText } from './ingest-body.ts';

const task = defineTask<typeof import('../../../../workers/read-data-body.ts').run>(
  'read_data_body',
  new URL('../../../../workers/read-data-body.ts', import.meta.url),
);

export const readsIngestBody: { body: typeof IngestText; reading: BodyReading<IngestText, IngestText>; bodyTexts: 'free' } = {
  body: IngestText,
  reading: { read: (body) => body, thread: { task, reader: 'ingest' } },
  // Documents are cleaned when they are cut.
  bodyTexts: 'free',
};
