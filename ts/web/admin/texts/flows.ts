/** Texts about volumes of network flows. */
import type { Texts } from '../../i18n/catalogue.ts';

export const flows = {
  flows: { en: 'Flows', de: 'Netzflüsse' },
  flows_by: { en: 'By', de: 'Nach' },
  flows_by_dst: { en: 'Receiver', de: 'Empfänger' },
  flows_by_exporter: { en: 'Exporter', de: 'Exporteur' },
  flows_by_pair: { en: 'Sender and receiver', de: 'Sender und Empfänger' },
  flows_by_port: { en: 'Port', de: 'Port' },
  flows_by_proto: { en: 'Protocol', de: 'Protokoll' },
  flows_by_src: { en: 'Sender', de: 'Sender' },
  flows_by_time: { en: 'Time', de: 'Zeit' },
  flows_bytes: { en: 'Volume', de: 'Volumen' },
  flows_detail: {
    en: 'Who sends how much to whom, as exporters of NetFlow and IPFIX report it.',
    de: 'Wer wem wie viel sendet, wie es Exporteure von NetFlow und IPFIX melden.',
  },
  flows_none: { en: 'No flows', de: 'Keine Netzflüsse' },
  flows_none_detail: {
    en: 'Set logs.flows_listen, and let routers send to it.',
    de: 'Setzen Sie logs.flows_listen, und lassen Sie Router dorthin senden.',
  },
  flows_of: { en: 'Of', de: 'Von' },
  flows_packets: { en: 'Packets', de: 'Pakete' },
  flows_sampled: { en: 'Sampled', de: 'Stichprobe' },
  flows_time: { en: 'Time', de: 'Zeit' },
  flows_total: { en: '{volume} in {count} flows', de: '{volume} in {count} Netzflüssen' },
} satisfies Texts;
