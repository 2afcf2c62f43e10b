import t from 'tap';
import { languageOf } from './question-language.ts';

const QUESTIONS: readonly (readonly [string, string])[] = [
  ['en', 'Who keeps the lighthouse of Karvo?'],
  ['en', 'Karvo lighthouse keeper'],
  ['en', ''],
  ['de', 'Wer ist der Wärter des Leuchtturms von Karvo?'],
  ['fr', 'Quelle est la hauteur du phare de Karvo ?'],
  ['es', '¿Cuál es la altura del faro de Karvo?'],
  ['it', 'Chi è il guardiano del faro di Karvo?'],
  ['pt', 'Quem é o guarda do farol de Karvo?'],
  ['nl', 'Wie is de wachter van de vuurtoren van Karvo?'],
  ['pl', 'Kto jest latarnikiem w Karvo?'],
  ['ro', 'Cine este paznicul farului din Karvo și cât câștigă?'],
  ['tr', 'Karvo fenerinin bekçisi kimdir ve ne zaman geldi?'],
  ['vi', 'Ai là người gác hải đăng của Karvo?'],
  ['ru', 'Кто смотритель маяка Karvo?'],
  ['uk', 'Хто доглядач маяка, і коли його збудовано?'],
  ['el', 'Ποιος είναι ο φύλακας του φάρου;'],
  ['he', 'מי שומר המגדלור?'],
  ['ar', 'من هو حارس المنارة؟'],
  ['hi', 'प्रकाशस्तंभ का रखवाला कौन है?'],
  ['th', 'ใครเป็นผู้ดูแลประภาคาร'],
  ['ko', '등대지기는 누구입니까?'],
  ['ja', '灯台の番人は誰ですか。'],
  ['zh', '谁是灯塔的守护者。WTO的目的是什么？'],
];

t.test('the language of a question is told by its script and its small words', async (t) => {
  for (const [language, question] of QUESTIONS) t.equal(languageOf(question), language, question);
});
