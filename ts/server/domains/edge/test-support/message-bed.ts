/** The comm module with the module edge, which runs its tools, over stand-ins of what both use. */
import type { Test } from 'tap';
import { standIn } from '../../../platform/module/test-support/open-modules.ts';
import { openComm } from '../../comm/test-support/comm-bed.ts';
import { conversations } from '../../conversations/index.ts';
import { data } from '../../data/index.ts';
import { metering } from '../../metering/index.ts';
import { edge } from '../index.ts';

export async function openMessageBed(t: Test, options: Parameters<typeof openComm>[1] = {}) {
  return await openComm(t, {
    ...options,
    modules: [
      edge,
      standIn(data, {}),
      standIn(conversations, { artifacts: {}, prompts: {} } as never),
      standIn(metering, { begin: async () => ({ end: async () => {} }) as never }),
    ],
  });
}
