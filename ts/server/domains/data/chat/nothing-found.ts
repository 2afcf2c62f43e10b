/** What an answer begins with when the knowledge bases have nothing about the question. */
import type { Language } from '../evidence/question-language.ts';

const SENTENCES: Readonly<Record<Language, string>> = {
  en: 'Nothing about this was found in the knowledge base.',
  de: 'Dazu wurde in der Wissensdatenbank nichts gefunden.',
  fr: 'Rien à ce sujet n’a été trouvé dans la base de connaissances.',
  es: 'No se ha encontrado nada al respecto en la base de conocimientos.',
  it: 'Nella base di conoscenza non è stato trovato nulla in proposito.',
  pt: 'Nada sobre isto foi encontrado na base de conhecimento.',
  nl: 'Hierover is in de kennisbank niets gevonden.',
  pl: 'W bazie wiedzy nie znaleziono nic na ten temat.',
  ro: 'În baza de cunoștințe nu s-a găsit nimic despre acest lucru.',
  tr: 'Bilgi tabanında bununla ilgili bir şey bulunamadı.',
  vi: 'Không tìm thấy gì về điều này trong cơ sở tri thức.',
  ru: 'В базе знаний об этом ничего не найдено.',
  uk: 'У базі знань про це нічого не знайдено.',
  el: 'Στη βάση γνώσεων δεν βρέθηκε τίποτα σχετικό.',
  he: 'לא נמצא דבר בנושא זה בבסיס הידע.',
  ar: 'لم يُعثر على شيء بهذا الشأن في قاعدة المعرفة.',
  hi: 'ज्ञानकोष में इसके बारे में कुछ नहीं मिला।',
  th: 'ไม่พบข้อมูลเกี่ยวกับเรื่องนี้ในฐานความรู้',
  ko: '지식 베이스에서 이에 관한 내용을 찾지 못했습니다.',
  ja: 'ナレッジベースには、これに関する内容が見つかりませんでした。',
  zh: '知识库中没有找到与此相关的内容。',
};

export function nothingFoundIn(language: Language): string {
  return SENTENCES[language];
}

/** An answer without the sentence that it begins with. */
export function withoutNotice(answer: string): string {
  const notice = Object.values(SENTENCES).find((sentence) => answer.startsWith(sentence));
  return notice === undefined ? answer : answer.slice(notice.length);
}
