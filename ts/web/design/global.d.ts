declare module '*.css';
/** Where a file is served, as the bundler names it. */
declare module '*?url' {
  const address: string;
  // biome-ignore lint/style/noDefaultExport: the bundler exports it so
  export default address;
}
