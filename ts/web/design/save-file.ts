/** The browser saves a text, or what an address answers, as a file. */
export function saveFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  saveAddress(address, name);
  // The download has begun with the click; the bytes are freed once it has them.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The answer says the name where none is given. */
export function saveAddress(address: string, name = ''): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
