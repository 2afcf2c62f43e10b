/** The size that the readers of image headers return. */

export interface ImageSize {
  width: number;
  height: number;
}

/** Four letters that name a format or a part of a file. Throws RangeError behind the end. */
export function tagAt(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}
