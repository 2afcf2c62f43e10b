/** The texts that the console alone shows. A new topic is a file below texts/ and a line here. */
import type { Language } from '../i18n/catalogue.ts';
import { backups } from './texts/backups.ts';
import { branding } from './texts/branding.ts';
import { cloud } from './texts/cloud.ts';
import { collection } from './texts/collection.ts';
import { devices } from './texts/devices.ts';
import { flows } from './texts/flows.ts';
import { forwarding } from './texts/forwarding.ts';
import { frame } from './texts/frame.ts';
import { gallery } from './texts/gallery.ts';
import { incidents } from './texts/incidents.ts';
import { integrations } from './texts/integrations.ts';
import { keys } from './texts/keys.ts';
import { logs } from './texts/logs.ts';
import { media } from './texts/media.ts';
import { memories } from './texts/memories.ts';
import { messages } from './texts/messages.ts';
import { models } from './texts/models.ts';
import { node } from './texts/node.ts';
import { nodes } from './texts/nodes.ts';
import { overview } from './texts/overview.ts';
import { people } from './texts/people.ts';
import { playground } from './texts/playground.ts';
import { schedules } from './texts/schedules.ts';
import { security } from './texts/security.ts';
import { settings } from './texts/settings.ts';
import { sources } from './texts/sources.ts';
import { tools } from './texts/tools.ts';
import { usage } from './texts/usage.ts';
import { words } from './texts/words.ts';

const texts = {
  ...backups,
  ...branding,
  ...cloud,
  ...collection,
  ...flows,
  ...devices,
  ...forwarding,
  ...frame,
  ...gallery,
  ...incidents,
  ...integrations,
  ...keys,
  ...logs,
  ...media,
  ...memories,
  ...messages,
  ...models,
  ...node,
  ...nodes,
  ...overview,
  ...people,
  ...playground,
  ...schedules,
  ...security,
  ...settings,
  ...sources,
  ...tools,
  ...usage,
  ...words,
};

export type ConsoleTextKey = keyof typeof texts;

export function consoleTexts(language: Language): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text[language]]));
}
