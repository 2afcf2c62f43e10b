/** Takes the bytes of one response. The exchange implements it over the socket. */
export interface ByteSink {
  /**
   * False: wait for onDrain before the next write; until then the chunk must not change, as part of it may not have been sent. Chunks of
   * no bytes are left out. Throws when the body gets longer than announced.
   */
  write(chunk: Uint8Array): boolean;
  /** Throws when the body is shorter than announced. */
  end(): void;
  /** Cuts the connection, so that the client sees that the answer is not whole; onClose follows. */
  cut(): void;
  onDrain: () => void;
  /** The client went away before the end, or the connection was cut. */
  onClose: () => void;
}
