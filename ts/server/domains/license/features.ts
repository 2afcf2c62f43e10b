/** What a license can allow. A license may name more: features of later versions mean nothing to this one. */
export const FEATURES = ['rag', 'media', 'cloud', 'cluster', 'logs', 'comm', 'science', 'iot', 'swarm'] as const;

export type Feature = (typeof FEATURES)[number];
