/** Whether it is known who is asking and which models there are. Until then a question can be written, and not sent. */
import { signal } from '@preact/signals';

export const isStarted = signal(false);
