/** The texts that the console alone shows, in English. Their keys are what every other catalogue of the console has. */
import { backups } from './en/backups.ts';
import { branding } from './en/branding.ts';
import { frame } from './en/frame.ts';
import { gallery } from './en/gallery.ts';
import { integrations } from './en/integrations.ts';
import { keys } from './en/keys.ts';
import { models } from './en/models.ts';
import { node } from './en/node.ts';
import { overview } from './en/overview.ts';
import { people } from './en/people.ts';
import { playground } from './en/playground.ts';
import { security } from './en/security.ts';
import { settings } from './en/settings.ts';
import { usage } from './en/usage.ts';
import { words } from './en/words.ts';

export const consoleEn = {
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
} as const;
