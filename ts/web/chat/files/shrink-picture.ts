/** Pictures as a model is sent them and as the conversation keeps them: scaled down in the browser until they fit. */

/** Longest side, in pixels; a larger one tells a model no more. */
const MAX_SIDE = 1_280;
const QUALITIES = [0.82, 0.7, 0.55, 0.4];
const LEAST_SIDE = 160;

/** `maxLength`: of the data: address. Throws for what the browser cannot read. */
export async function shrinkPicture(file: Blob, maxLength: number): Promise<string> {
  const picture = await createImageBitmap(file);
  try {
    for (let side = MAX_SIDE; side >= LEAST_SIDE; side = Math.floor(side * 0.75)) {
      for (const quality of QUALITIES) {
        const address = await draw(picture, side, quality);
        if (address.length <= maxLength) return address;
      }
    }
  } finally {
    picture.close();
  }
  throw new Error('the picture cannot be made small enough');
}

async function draw(picture: ImageBitmap, maxSide: number, quality: number): Promise<string> {
  const scale = Math.min(1, maxSide / Math.max(picture.width, picture.height));
  const canvas = new OffscreenCanvas(
    Math.max(1, Math.round(picture.width * scale)),
    Math.max(1, Math.round(picture.height * scale)),
  );
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('the browser draws no pictures');
  // JPEG has no transparency: what shines through is paper.
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality });
  return await addressOf(blob);
}

async function addressOf(blob: Blob): Promise<string> {
  return await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () => reject(reader.error ?? new Error('the picture cannot be read')));
    reader.readAsDataURL(blob);
  });
}
