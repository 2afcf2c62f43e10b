/** Headers of uploads that pages of other origins may send and read. */
export const uploadCorsHeaders = {
  accepted: [
    'tus-resumable',
    'upload-length',
    'upload-offset',
    'upload-metadata',
    'upload-checksum',
    'x-upload-id',
    'x-chunk-index',
    'x-chunk-sha256',
  ],
  exposed: [
    'location',
    'tus-resumable',
    'tus-version',
    'tus-extension',
    'tus-max-size',
    'tus-checksum-algorithm',
    'upload-offset',
    'upload-length',
    'upload-metadata',
    'upload-expires',
  ],
};
