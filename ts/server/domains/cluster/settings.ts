import { integerSchema, setting, textSchema } from '../../platform/config/setting.ts';

export const clusterSettings = {
  'cluster.address': setting(
    textSchema,
    '',
    'HOST:PORT by which other machines reach this node, as the list of nodes shows it; empty: the name of the machine.',
    { isOfMachine: true },
  ),
  'cluster.heartbeat_seconds': setting(
    integerSchema(1, 3600),
    30,
    'How often a node tells the others that it is there, and how it is.',
  ),
  'cluster.entry_seconds': setting(integerSchema(2, 86_400), 90, 'A node that has told nothing for so long counts as gone.'),
} as const;
