import t from 'tap';
import type { Principal } from '../../../platform/http/principal.ts';
import { tenantScope } from '../../../platform/storage/index.ts';
import { knowledgeError } from '../errors.ts';
import { FileTarget, type FileTargetOptions } from './file-target.ts';

const red = tenantScope('red');
const caller = { tenant: 'red' } as Principal;

t.test('an upload is admitted by the name of its base, without a look at what the bases of the tenant hold', async (t) => {
  const asked: string[] = [];
  const target = new FileTarget({
    service: {
      find: async (_: unknown, namespace: string) => {
        asked.push(namespace);
        return namespace === 'there' ? { namespace } : undefined;
      },
    },
    access: { scopeFor: async () => red, requireAdding: () => {} },
    embedders: {
      choose: async () => {
        throw knowledgeError('embedding_model_not_found', 'No model makes embeddings here.');
      },
    },
  } as unknown as FileTargetOptions);
  await target.admit(caller, red, { namespace: 'there' });
  t.strictSame(asked, ['there']);
  await t.rejects(target.admit(caller, red, { namespace: 'new' }), { code: 'embedding_model_not_found' });
});
