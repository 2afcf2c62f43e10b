/** What processes on one database tell each other, without it being stored. */
export interface NotificationHandlers {
  /** Sent with pg_notify on the channel, by any process, this one included. */
  onNotification(payload: string): void;
  /** From now on nothing is missed; what was sent before may have been. The channel counts as live when this has resolved. */
  onListening(): Promise<void>;
  /** Notifications may be missed until `onListening` is called again, which happens by itself. */
  onLost(error: unknown): void;
}

export interface NotificationListener {
  /** Whether everything that is sent arrives. Noticed within a second when it stops being so. */
  readonly isLive: boolean;
  /** Connects, and again whenever the connection is lost. */
  start(): void;
  stop(): Promise<void>;
}
