/** A server's process is started, asked for one token, and stopped; the model file lies in the page cache. */
export interface StartLoad {
  kind: 'start';
}
