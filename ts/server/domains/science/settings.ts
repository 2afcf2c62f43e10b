/** Settings of the science module. */
import { integerSchema, setting, textSchema } from '../../platform/config/setting.ts';

export const scienceSettings = {
  'science.contact': setting(
    textSchema,
    '',
    'A mail address or web page of whoever runs this node, which sources are told with each request: many ask for one, and some answer faster.',
  ),
  'science.allowed_hosts': setting(
    textSchema,
    '',
    'Hosts inside the network, separated by commas, at which sources may lie: name, name:port, or http://name:port for plain HTTP.',
    { isOfMachine: true },
  ),
  'science.wait_seconds': setting(
    integerSchema(1, 60),
    15,
    'A request that would wait longer for its turn at a source is refused with the time after which it may be tried.',
  ),
  'science.timeout_seconds': setting(integerSchema(1, 120), 30, 'How long a query waits for each of its sources.'),
} as const;
