/** Settings of the identity module. */
import Type from 'typebox';
import { integerSchema, setting } from '../../platform/config/setting.ts';

const DAY_SECONDS = 24 * 60 * 60;

export const identitySettings = {
  'identity.self_registration': setting(
    Type.Enum(['open', 'closed']),
    'open',
    'Whether people may make themselves an account with the role viewer in the tenant default; the first account can always be made.',
  ),
  'identity.session_idle_seconds': setting(
    integerSchema(60, 365 * DAY_SECONDS),
    7 * DAY_SECONDS,
    'A session that is not used for so long ends.',
  ),
  'identity.session_max_seconds': setting(
    integerSchema(60, 365 * DAY_SECONDS),
    30 * DAY_SECONDS,
    'A session ends after so long, however much it is used.',
  ),
} as const;
