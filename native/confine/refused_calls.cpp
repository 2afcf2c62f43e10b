#include "refused_calls.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_filter.h"
#include "failure.h"

namespace svc {

namespace {

// set_mempolicy_home_node, of Linux 5.17. What came later is refused as if the kernel were older, and libraries then use what
// they used before it.
constexpr uint32_t max_call = 450;

constexpr uint32_t network[] = {SYS_socketpair, SYS_connect,  SYS_bind,     SYS_listen,  SYS_accept,   SYS_accept4,   SYS_sendto,
                                SYS_sendmsg,    SYS_sendmmsg, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_setsockopt};

// Other processes, be it by their memory, their signals, their scheduling or what System V shares between them.
constexpr uint32_t processes[] = {
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    440 /* process_madvise */,
    448 /* process_mrelease */,
    434 /* pidfd_open */,
    438 /* pidfd_getfd */,
    424 /* pidfd_send_signal */,
    SYS_kcmp,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setaffinity,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_sched_setattr,
    SYS_migrate_pages,
    SYS_move_pages,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_semget,
    SYS_semctl,
    SYS_semop,
    SYS_semtimedop,
    SYS_msgget,
    SYS_msgctl,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_setpgid,
    SYS_setsid,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setgroups,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_capset,
    SYS_unshare,
    SYS_setns};

// What Landlock governs, which a program with a writable folder needs there.
constexpr uint32_t changes[] = {
#ifdef SYS_open
    SYS_creat,    SYS_mkdir,     SYS_rmdir,    SYS_rename,  SYS_unlink,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_mkdirat,  SYS_renameat2, SYS_unlinkat, SYS_truncate};

// What Landlock leaves out or older versions of it did not have: with them, nothing is written where it is missing too.
constexpr uint32_t files[] = {
#ifdef SYS_open
    SYS_mknod,
    SYS_link,
    SYS_symlink,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
    SYS_mknodat,
    SYS_linkat,
    SYS_symlinkat,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_memfd_create,
    447 /* memfd_secret */,
    SYS_fanotify_init,
    SYS_fanotify_mark,
    SYS_inotify_init1,
    SYS_inotify_add_watch};

// Parts of the kernel that no parser needs, many of which have had holes.
constexpr uint32_t kernel[] = {
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    428 /* open_tree */,
    429 /* move_mount */,
    430 /* fsopen */,
    431 /* fsconfig */,
    432 /* fsmount */,
    433 /* fspick */,
    442 /* mount_setattr */,
    SYS_quotactl,
    443 /* quotactl_fd */,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_acct,
    SYS_syslog,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_personality,
    SYS_vhangup,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_setup,
    SYS_io_submit,
    SYS_io_destroy,
    SYS_io_getevents,
    SYS_io_cancel,
    425 /* io_uring_setup */,
    426 /* io_uring_enter */,
    427 /* io_uring_register */,
    SYS_lookup_dcookie,
    SYS_nfsservctl,
#ifdef __x86_64__
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
    SYS__sysctl,
#endif
};

template <size_t size> void refuse_all(CallFilter & filter, const uint32_t (&calls)[size]) {
    for (const auto call : calls) filter.refuse(call, EPERM);
}

void refuse_writing(CallFilter & filter) {
    constexpr uint32_t tmpfile_bit = 020000000;
    constexpr uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | tmpfile_bit;
    filter.refuse_with_bits(SYS_openat, 2, writing, EACCES);
#ifdef SYS_open
    filter.refuse_with_bits(SYS_open, 1, writing, EACCES);
#endif
}

// Threads are allowed, processes are not. The flags of clone3 lie in memory, where a filter cannot read them; libc falls back to
// clone.
void refuse_processes(CallFilter & filter) {
    filter.refuse(435 /* clone3 */, ENOSYS);
    filter.refuse_without_bits(SYS_clone, 0, CLONE_THREAD, EPERM);
}

// Services of this machine listen on sockets that are files.
void allow_internet(CallFilter & filter) { filter.allow_values(SYS_socket, 0, {AF_INET, AF_INET6, AF_NETLINK}, EPERM); }

// A server of the internet that begins nothing: without an address, sendto() goes to whoever has connected.
void allow_listening(CallFilter & filter) {
    filter.allow_values(SYS_socket, 0, {AF_INET, AF_INET6}, EPERM);
    filter.allow_or_kill(SYS_sendto, 4, 0);
    for (const auto call : {SYS_connect, SYS_socketpair, SYS_sendmsg, SYS_sendmmsg}) filter.refuse(call, EPERM);
}

void refuse_network(CallFilter & filter) {
    filter.refuse(SYS_socket, EPERM);
    refuse_all(filter, network);
}

// A process of the same user could otherwise end the server, or take its files and CPU time by lowering its limits.
void keep_to_itself(CallFilter & filter) {
    const auto self = static_cast<uint32_t>(getpid());
    filter.allow_values(SYS_kill, 0, {self}, EPERM);
    filter.allow_values(SYS_tgkill, 0, {self}, EPERM);
    filter.allow_values(SYS_prlimit64, 0, {0, self}, EPERM);
    filter.refuse_value(SYS_ioctl, 1, TIOCSTI, EPERM);
}

}  // namespace

bool refuse_calls(const char * program_path, const Options & options) {
    const bool may_write = !options.devices.empty() || !options.writable.empty();
    CallFilter filter(max_call);
    filter.allow_or_kill(SYS_execve, 0, reinterpret_cast<uintptr_t>(program_path));
    if (options.has_network) allow_internet(filter);
    else if (options.may_listen) allow_listening(filter);
    else refuse_network(filter);
    refuse_all(filter, processes);
    if (options.writable.empty()) refuse_all(filter, changes);
    refuse_all(filter, files);
    refuse_all(filter, kernel);
    filter.refuse(437 /* openat2 */, ENOSYS);
    if (!may_write) refuse_writing(filter);
    refuse_processes(filter);
    keep_to_itself(filter);
    return filter.install();
}

// A filter at address 0 cannot be read: EFAULT tells that the kernel got that far.
bool has_call_filters() { return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0) != 0 && errno == EFAULT; }

}  // namespace svc
