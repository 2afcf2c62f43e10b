/** Uploads within a whole server: a module of a few lines sends what arrives through extraction, and answers with what was found. */
import t from 'tap';
import Type from 'typebox';
import { writeDocx } from '../../../extraction/test-support/docx-writer.ts';
import { wrap, writePdf } from '../../../extraction/test-support/pdf-writer.ts';
import { createServer } from '../../../main.ts';
import { modules } from '../../../modules.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { defineModule } from '../../../platform/module/module.ts';
import { loadNodeConfig } from '../../../settings.ts';
import { extractionErrors, files, type UploadedFile, type Uploader } from '../index.ts';
import { fileModules } from './test-support/upload-bed.ts';

const Outcome = Type.Object({}, { additionalProperties: true });

const reader = defineModule({
  name: 'data',
  settings: {},
  create: (context) => {
    const { reader, serveUploads } = context.use(files);
    const target = {
      admit: async () => {},
      reaches: async () => true,
      accept: async (uploader: Uploader, file: UploadedFile) => {
        return { status: 201 as const, body: { ...(await reader.read(uploader, file)) } };
      },
    };
    return {
      api: undefined,
      routes: serveUploads(target, { errors: extractionErrors.all, created: Outcome, accepted: Outcome }),
      start: async () => undefined,
      stop: async () => undefined,
      health: () => ({ state: {}, reasons: [] }),
      ready: () => undefined,
    };
  },
});

t.test('a file of several chunks is uploaded, read, and refused where it cannot be read', async (t) => {
  const environment = {
    SVC_LISTEN: '127.0.0.1:0',
    SVC_FORCE_CPU_FEATURES: 'none',
    SVC_DEFAULT_MODEL: 'none',
    SVC_DATA_UPLOAD_HOURS: '2',
  };
  const alone = { ...files, migrations: fileModules[0]?.migrations ?? [] };
  const others = modules.filter(({ name }) => !['data', 'files', 'completions', 'edge', 'swarm'].includes(name));
  const list = [...others, alone, reader];
  const config = loadNodeConfig({ root: newFolder(t, ['models']), environment }, list);
  const server = await createServer(config, { modules: list, sink: { write: () => {}, flush: () => {} } });
  const { internal } = await server.start();
  t.teardown(() => server.stop());
  const post = async (path: string, body: Uint8Array | object, headers: Record<string, string> = {}) => {
    const isBytes = body instanceof Uint8Array;
    const type: Record<string, string> = isBytes ? {} : { 'content-type': 'application/json' };
    const init = { method: 'POST', headers: { ...type, ...headers }, body: isBytes ? Buffer.from(body) : JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${internal.port}/api/v1/upload/${path}`, init);
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
  const add = async (filename: string, bytes: Buffer) => {
    const { body } = await post('init', { filename, size: bytes.length, tenant: 'default', namespace: 'handbook' });
    const { upload_id: id, chunk_size: size } = body as unknown as { upload_id: string; chunk_size: number };
    for (let index = 0; index * size < bytes.length; index++)
      await post('chunk', bytes.subarray(index * size, (index + 1) * size), {
        'x-upload-id': id,
        'x-chunk-index': String(index),
      });
    return await post('finalize', { upload_id: id });
  };
  const picture = {
    name: 'word/media/noise.bin',
    data: Buffer.from(Array.from({ length: 9_000_000 }, (_, i) => (i * i * 2654435761) >>> 24)),
    stored: true,
  };
  const large = writeDocx({ blocks: [{ type: 'paragraph', text: 'The harbour was built in 1911 by forty masons.' }] }, [picture]);
  t.match(await add('Large.docx', large), {
    status: 201,
    body: { document: { kind: 'docx', blocks: [{ text: /forty masons/ }] } },
  });
  const pages = ['first', 'second'].map((word) => wrap(`This is the ${word} page of the study of harbours.`, 60, 60, 400).texts);
  t.match(await add('study.pdf', writePdf(pages)), {
    status: 201,
    body: { document: { pages: 2, blocks: [{ page: 1 }, { page: 2, text: /second/ }] } },
  });
  t.match(await add('scan.pdf', writePdf([[]], { hasPicture: true })), {
    status: 422,
    body: { error: 'scanned_pdf', detail: /OCR/ },
  });
  t.match(await add('notes.rtf', Buffer.from('{\\rtf1 Hello}')), { status: 201, body: { storedKind: 'rtf' } });
  const paths = Object.keys((server.openapi as { paths: object }).paths);
  t.ok(
    paths.includes('/api/v1/upload/init') && paths.includes('/api/v1/upload/tus/{upload_id}'),
    'all of it is in the reference',
  );
});
