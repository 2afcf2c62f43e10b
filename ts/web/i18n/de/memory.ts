/** Texts about memories, in German. */
import type { Translation } from '../catalogue.ts';
import type { memory as english } from '../en/memory.ts';

export const memory: Translation<typeof english> = {
  dream_changed: 'Geordnet am {time}: {count} Änderungen',
  dream_undone: 'Rückgängig gemacht: {count} Änderungen',
  forget: 'Vergessen',
  forget_detail: '„{text}“ wird endgültig gelöscht, mit Erinnerungen, die dasselbe sagen.',
  forget_named: '„{title}“ vergessen',
  memories: 'Gedächtnis',
  memory_add: 'Merken',
  memory_export: 'Exportieren',
  memory_extract: 'Aus dem, was ich in Chats schreibe, Erinnerungen gewinnen',
  memory_from_api: 'Hier gesagt',
  memory_from_conversation: 'In einem Chat gesagt',
  memory_from_dream: 'Aus Erlebnissen zusammengefasst',
  memory_from_import: 'Importiert',
  memory_kept: 'Gemerkt.',
  memory_new: 'Was soll gemerkt werden?',
  memory_of_all: 'Von allen',
  memory_proposed: 'Das merken? „{text}“',
  memory_recall: 'In meinen Chats erinnern, was zur Frage gehört',
  memory_recalled: 'Erinnerungen: {count}',
  memory_search: 'Im Gedächtnis suchen',
  no_memories: 'Noch nichts gemerkt.',
  pin_named: '„{title}“ anheften',
  remember: 'Das merken',
  undo: 'Rückgängig',
  unpin_named: '„{title}“ lösen',
};
