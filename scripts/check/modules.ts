/** The modules of ts/server/domains, lowest tier first. A room imports modules of lower tiers only, and only through their index.ts. */
export const tiers: readonly (readonly string[])[] = [
  ['identity', 'license', 'metering', 'syslog'],
  ['inference', 'media', 'memory'],
  ['data', 'conversations', 'cloud', 'cluster', 'logs', 'comm', 'science', 'iot'],
  ['edge', 'swarm', 'backup', 'system'],
];
