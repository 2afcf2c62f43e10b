import Type from 'typebox';
import { integerSchema, setting, textSchema } from '../../platform/config/setting.ts';

export const clusterSettings = {
  'cluster.listen': setting(
    Type.String({ pattern: '^$|^((\\[[0-9A-Fa-f:.]+\\]|[^\\s:\\[\\]/]+):)?\\d{1,5}$' }),
    '',
    'HOST:PORT where the other nodes of the cluster ask this one for answers of its models, for example 10.0.0.5:8881; empty: it asks and ' +
      'answers none.',
    { accepts: 'HOST:PORT, [IPv6]:PORT or a port, for example 10.0.0.5:8881', isOfMachine: true },
  ),
  'cluster.address': setting(
    textSchema,
    '',
    'HOST:PORT by which other nodes reach cluster.listen of this one; empty: its address, or the name of the machine where that is none.',
    { isOfMachine: true },
  ),
  'cluster.heartbeat_seconds': setting(
    integerSchema(1, 3600),
    30,
    'How often a node tells the others that it is there, and how it is.',
  ),
  'cluster.sync_seconds': setting(
    integerSchema(1, 86_400),
    120,
    'How often a standby gets a snapshot of a primary on SQLite, while something is written there.',
  ),
  'cluster.entry_seconds': setting(integerSchema(2, 86_400), 90, 'A node that has told nothing for so long counts as gone.'),
} as const;
