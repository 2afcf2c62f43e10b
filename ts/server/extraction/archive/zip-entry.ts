/** One part of a ZIP file, as the central directory describes it. */
export interface ZipEntry {
  name: string;
  method: 'stored' | 'deflated';
  isEncrypted: boolean;
  crc: number;
  packedBytes: number;
  sizeBytes: number;
  headerOffset: number;
}
