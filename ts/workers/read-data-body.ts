/** A task of the worker pool: reads the large body of an ingest, so that parsing it does not hold up the event loop. */
import { IngestText } from '../server/domains/data/ingest/ingest-body.ts';
import { BodyReader } from '../server/platform/http/body/body-reader.ts';
import { type ReadBodyTask, readBodyInThread } from '../server/platform/http/body/read-body-task.ts';

const reader = new BodyReader(IngestText, 'free');

export const run: ReadBodyTask = ({ bytes }) => readBodyInThread({ reader, pack: (value) => value }, bytes);
