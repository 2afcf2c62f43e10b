/** `internal`: the node's own port; `public`: the edge that faces untrusted networks. The socket decides, and a proxy's mark may tighten. */
export type ListenerName = 'internal' | 'public';
