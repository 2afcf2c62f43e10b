/** Frames as a ZIP file of images that are named by their times (APPNOTE 6.3.3). Images are packed already, so that they are stored as they are. */
import { crc32 } from 'node:zlib';
import type { Frame } from './film-frames.ts';

const LOCAL_HEAD_BYTES = 30;
const CENTRAL_HEAD_BYTES = 46;
const END_BYTES = 22;
/** 1 January 1980, the first day that the format knows: a frame has no date. */
const NO_DATE = 0x21;
const VERSION = 20;

export function framesZip(frames: readonly Frame[]): Buffer {
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [i, frame] of frames.entries()) {
    const name = Buffer.from(nameOf(frame, i));
    const common = commonHead(frame.bytes, name.length);
    const local = Buffer.alloc(LOCAL_HEAD_BYTES);
    local.writeUInt32LE(0x0403_4b50, 0);
    common.copy(local, 4);
    const entry = Buffer.alloc(CENTRAL_HEAD_BYTES);
    entry.writeUInt32LE(0x0201_4b50, 0);
    entry.writeUInt16LE(VERSION, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    parts.push(local, name, frame.bytes);
    central.push(entry, name);
    offset += LOCAL_HEAD_BYTES + name.length + frame.bytes.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(frames.length, 8);
  end.writeUInt16LE(frames.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}

/** The fields that both heads of a file share, from the version that is needed on. */
function commonHead(bytes: Buffer, nameBytes: number): Buffer {
  const head = Buffer.alloc(26);
  head.writeUInt16LE(VERSION, 0);
  head.writeUInt16LE(NO_DATE, 8);
  head.writeUInt32LE(crc32(bytes), 10);
  head.writeUInt32LE(bytes.length, 14);
  head.writeUInt32LE(bytes.length, 18);
  head.writeUInt16LE(nameBytes, 22);
  return head;
}

function nameOf({ time, mediaType }: Frame, i: number): string {
  const ending = mediaType.slice('image/'.length).replace('jpeg', 'jpg');
  return `frame-${String(i + 1).padStart(2, '0')}-${time.toFixed(3)}s.${ending}`;
}
