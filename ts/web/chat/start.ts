/** Whether it is known who is asking and which models there are. A question that is sent before goes out then. */
import { signal } from '@preact/signals';

export const isStarted = signal(false);
