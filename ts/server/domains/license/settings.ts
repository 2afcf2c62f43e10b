/** Settings of the license module. */
import { pathSchema, setting } from '../../platform/config/setting.ts';

export const licenseSettings = {
  'license.file': setting(
    pathSchema,
    '',
    'The signed license of this installation; default is license.json inside data_dir. Without one everything can be evaluated for a year.',
    { isPath: true, insideOf: { key: 'data_dir', name: 'license.json' } },
  ),
} as const;
