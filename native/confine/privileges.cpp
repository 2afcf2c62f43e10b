#include "privileges.h"

#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "failure.h"

namespace svc {

namespace {

// Without this, a program that root starts gets all capabilities of the bounding set back.
void empty_bounding_set() {
    for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
        if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 0) continue;
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) throw system_failure("cannot drop a capability");
    }
}

void clear_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
    if (syscall(SYS_capset, &header, none) != 0) throw system_failure("cannot clear the capabilities");
}

}  // namespace

void drop_privileges() {
    if (geteuid() == 0) {
        // Inside a user namespace groups can be fixed; they then are the namespace's own.
        if (setgroups(0, nullptr) != 0 && errno != EPERM) throw system_failure("cannot drop the groups");
        empty_bounding_set();
    }
    clear_capabilities();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw system_failure("cannot set no_new_privs");
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) throw system_failure("cannot follow the parent's end");
}

}  // namespace svc
