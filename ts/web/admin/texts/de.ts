/** The texts that the console alone shows, in German. */
import type { ConsoleCatalogue } from '../../i18n/catalogue.ts';
import { backups } from './de/backups.ts';
import { branding } from './de/branding.ts';
import { frame } from './de/frame.ts';
import { gallery } from './de/gallery.ts';
import { integrations } from './de/integrations.ts';
import { keys } from './de/keys.ts';
import { models } from './de/models.ts';
import { node } from './de/node.ts';
import { overview } from './de/overview.ts';
import { people } from './de/people.ts';
import { playground } from './de/playground.ts';
import { security } from './de/security.ts';
import { settings } from './de/settings.ts';
import { usage } from './de/usage.ts';
import { words } from './de/words.ts';

export const consoleDe: ConsoleCatalogue = {
  ...backups,
  ...branding,
  ...frame,
  ...gallery,
  ...integrations,
  ...keys,
  ...models,
  ...node,
  ...overview,
  ...people,
  ...playground,
  ...security,
  ...settings,
  ...usage,
  ...words,
};
