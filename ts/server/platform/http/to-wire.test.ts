import t from 'tap';
import { toWire } from './to-wire.ts';

t.test('a record goes to the wire under the names and with the values that JSON has for it', async (t) => {
  const record = {
    id: 'a',
    isPinned: true,
    issuer: 'b',
    lastVersion: 3,
    folder: undefined as string | undefined,
    createdAt: 0,
    endedAt: undefined as number | undefined,
  };
  const wire: {
    id: string;
    pinned: boolean;
    issuer: string;
    last_version: number;
    folder: string | null;
    created_at: string;
    ended_at: string | null;
  } = toWire(record);
  t.strictSame(wire, {
    id: 'a',
    pinned: true,
    issuer: 'b',
    last_version: 3,
    folder: null,
    created_at: '1970-01-01T00:00:00.000Z',
    ended_at: null,
  });
});
