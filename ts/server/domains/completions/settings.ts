/** Settings of the module. They are named as they were when inference had them. */
import { integerSchema, setting } from '../../platform/config/setting.ts';

const MIB = 1024 * 1024;

export const completionSettings = {
  'inference.responses_keep_days': setting(
    integerSchema(0, 3650),
    30,
    'Days that answers of the Responses API are kept (`store`), and longer while another one continues them; 0: none is kept.',
  ),
  'inference.stream_detached_seconds': setting(
    integerSchema(0, 86_400),
    300,
    'How long an answer that was asked for with `resumable` goes on while nobody reads it; 0: it ends with its client, like others.',
  ),
  'inference.stream_keep_seconds': setting(
    integerSchema(0, 86_400),
    300,
    'How long the stream of such an answer can still be resumed after its end.',
  ),
  'inference.stream_bytes': setting(
    integerSchema(64 * 1024, 1024 * MIB),
    8 * MIB,
    'Events of one such answer that are kept in memory; one that nobody reads ends there.',
  ),
  'inference.stream_tenant_bytes': setting(
    integerSchema(64 * 1024, 64 * 1024 * MIB),
    32 * MIB,
    'Events of all such answers of one tenant.',
  ),
  'inference.stream_total_bytes': setting(
    integerSchema(64 * 1024, 1024 * 1024 * MIB),
    128 * MIB,
    'Events of all such answers together.',
  ),
} as const;
