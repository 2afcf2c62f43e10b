import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { asDiskError } from './disk-error.ts';
import { initOf, openUploadBed, sendChunk, someBytes } from './test-support/upload-bed.ts';

t.test('a file that would not fit on the disk is refused before it is sent, and nothing is left of it', async (t) => {
  const disk = { free: 256 * 1024 * 1024 + 400 };
  const { ask, folder } = await openUploadBed(t, { freeBytes: async () => disk.free });
  for (let i = 0; i < 6; i++)
    t.match(await ask('POST', '/api/v1/upload/init', { body: initOf(someBytes(500)) }), {
      status: 507,
      body: { error: 'disk_full', detail: /make space/ },
    });
  t.strictSame(await readdir(join(folder, 'uploads')), []);
  disk.free += 1000;
  const { status, body } = await ask('POST', '/api/v1/upload/init', { body: initOf(someBytes(500)) });
  t.equal(status, 201, 'and what was refused takes no place among open uploads');
  t.equal((await sendChunk(ask, body.upload_id, someBytes(500), 0)).status, 200);
});

t.test('a disk that fills up while bytes are written is the same refusal, and other faults stay faults', (t) => {
  t.match(asDiskError(Object.assign(new Error('x'), { code: 'ENOSPC' })), { code: 'disk_full' });
  t.match(asDiskError(Object.assign(new Error('x'), { code: 'EDQUOT' })), { code: 'disk_full' });
  t.match(asDiskError(Object.assign(new Error('x'), { code: 'EIO' })), { code: 'EIO' });
  t.end();
});
