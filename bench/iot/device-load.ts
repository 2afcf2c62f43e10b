/** Loads of devices: many of them behind a broker, each telling all of its variables once a second. */
export interface DeviceLoad {
  kind: 'devices';
  devices: number;
  variables: number;
  /** The CPU is measured for so long. */
  seconds: number;
  /** The stream that runs without devices, and again beside them. */
  tokens: number;
}

/** The job of a client's process. */
export interface DeviceJob {
  url: string;
  /** The bare client has its devices, and answers no chats. */
  isBare: boolean;
  pid: number;
  brokerPort: number;
  load: DeviceLoad;
  seed: number;
}

export const topicOf = (device: number, variable: number): string => `bench/${device}/${variable}`;
