/** Settings of the memory module. */
import Type from 'typebox';
import { integerSchema, setting } from '../../platform/config/setting.ts';

/** Memory files, in the data folder. */
export const FILES_FOLDER = 'memory';

export const memorySettings = {
  'memory.recall_ms': setting(
    integerSchema(1, 60_000),
    50,
    'Milliseconds beside the embedding of the question after which a chat goes on without memories, and says so.',
  ),
  'memory.tenant_writers': setting(
    Type.Enum(['admin', 'developer']),
    'admin',
    'Least role that makes, changes and forgets memories of the whole tenant: admin or developer.',
  ),
  'memory.most_memories': setting(
    integerSchema(1, 1_000_000),
    20_000,
    'Memories that an account has at most, those that are superseded among them; the memories of a tenant have the same limit.',
  ),
  'memory.rest_minutes': setting(
    integerSchema(1, 10_080),
    10,
    'Minutes without a message after which a conversation is read for memories, for accounts that let it be done.',
  ),
  'memory.dream_at': setting(
    Type.String({ pattern: '^$|^([01][0-9]|2[0-3]):[0-5][0-9]$' }),
    '03:00',
    'Time of day, UTC, at which the memories of each owner are put in order; empty: only on demand.',
    { accepts: 'a time such as 03:00, or nothing' },
  ),
  'memory.router': setting(
    Type.Enum(['off', 'shadow', 'on']),
    'shadow',
    'What chooses for `model: "auto"` and `knowledge: ["auto"]`: on, what was learned, while it does better than the rule; shadow, the rule, while what ' +
      'was learned is compared with it; off, the rule, and nothing is recorded.',
  ),
  'memory.undo_days': setting(integerSchema(0, 3_650), 30, 'Days for which the changes of a dream can be undone.'),
} as const;
