/** Whether the addons of this process are under a sanitizer, which keeps freed memory and takes more of it (npm test -- --asan, --tsan). */
export function isSanitized(): boolean {
  return /lib[at]san/.test(process.env['LD_PRELOAD'] ?? '');
}
