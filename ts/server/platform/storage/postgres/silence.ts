/** A server that does not answer. */
import { StorageError } from '../storage-error.ts';

/** What a server answers without work, or refuses, takes this long at most. */
export const ANSWER_LIMIT_MS = 3_000;
/** An event loop that stood still reads what has arrived before it judges. */
const GRACE_MS = 50;

/** Settles like `answer`, or rejects with `storage_unavailable` once it has been missing for so long. The connection is of no use then. */
export async function answerWithin<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  const silence = Promise.withResolvers<never>();
  let timer = setTimeout(() => {
    timer = setTimeout(() => silence.reject(silentServer(limitMs)), GRACE_MS);
  }, limitMs);
  try {
    return await Promise.race([answer, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Settles like `answer`, or rejects with `storage_unavailable` once it has been missing for long and `isLost` says that none will come. */
export async function answerUnlessLost<T>(answer: Promise<T>, isLost: () => Promise<boolean>): Promise<T> {
  const lost = Promise.withResolvers<never>();
  const look = async (): Promise<void> => {
    if (await isLost().catch(() => false)) lost.reject(silentServer(ANSWER_LIMIT_MS));
  };
  const timer = setInterval(() => void look(), ANSWER_LIMIT_MS);
  try {
    return await Promise.race([answer, lost.promise]);
  } finally {
    clearInterval(timer);
  }
}

export function silentServer(limitMs: number): StorageError {
  return new StorageError('storage_unavailable', `PostgreSQL does not work: it has not answered for ${limitMs} ms.`, {
    remedy: 'The server reconnects by itself. See whether the host of PostgreSQL and the network to it work.',
  });
}
