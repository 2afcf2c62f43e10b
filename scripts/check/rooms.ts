/** The rooms of ts/server/domains, lowest tier first. A room imports rooms of lower tiers only, and only through their index.ts. */
export const tiers: readonly (readonly string[])[] = [
  ['identity', 'licence', 'metering', 'syslog'],
  ['inference', 'media', 'memory'],
  ['knowledge', 'conversations', 'cloud', 'cluster', 'logs', 'comm', 'science', 'iot'],
  ['edge', 'swarm', 'backup', 'system'],
];
