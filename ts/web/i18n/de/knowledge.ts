/** Texts about knowledge bases and artifacts, in German. */
import type { Translation } from '../catalogue.ts';
import type { knowledge as english } from '../en/knowledge.ts';

export const knowledge: Translation<typeof english> = {
  artifact_kept: 'Bei den Artefakten abgelegt',
  artifact_named: 'Artefakt: {title}',
  artifact_share_detail: 'Wer im Mandanten einen Link hat, sieht die Fassung, für die er angelegt wurde.',
  artifact_view: 'Ansicht des Artefakts',
  choose_files: 'Dateien wählen',
  create: 'Anlegen',
  document_delete_detail: '„{name}“ wird aus „{base}“ entfernt, für alle im Mandanten. Das lässt sich nicht rückgängig machen.',
  documents: 'Dokumente',
  documents_count: 'Dokumente: {count}',
  file_kept: '{name} ist jetzt in „{base}“.',
  keep: 'Ablegen',
  keep_file: '{name} in einer Wissensbasis behalten',
  keep_file_detail: 'Dort kann jeder im Mandanten darin suchen. In diesem Chat bleibt sie auch.',
  kind: 'Art',
  knowledge_base: 'Wissensbasis',
  knowledge_delete_detail:
    '„{name}“ wird mit {count} Dokumenten entfernt, für alle im Mandanten. Das lässt sich nicht rückgängig machen.',
  knowledge_detail:
    'Antworten schlagen in den eingeschalteten Wissensbasen nach und nennen deren Dokumente. Alle im Mandanten haben dieselbe Liste.',
  knowledge_new: 'Neue Wissensbasis',
  no_artifacts: 'Noch keine Artefakte',
  no_artifacts_detail: 'Öffne eine Seite, Zeichnung oder ein Programm aus einer Antwort und leg es ab.',
  no_documents: 'Noch keine Dokumente.',
  no_knowledge: 'Noch keine Wissensbasen.',
  own_knowledge: 'Das Modell selbst antworten lassen, wo die Dokumente nichts sagen',
  own_knowledge_detail: 'Gilt für dein Konto, in allen Chats. Sonst endet die Antwort mit dem Satz, dass nichts gefunden wurde.',
  passage_private: 'Was in der Datei steht, sieht nur, wem dieser Chat gehört.',
  version_after: 'Nächste Fassung',
  version_before: 'Vorige Fassung',
  version_number: 'Fassung {n}',
  version_of: 'Fassung {n} von {count}',
  versions: 'Fassungen: {count}',
};
