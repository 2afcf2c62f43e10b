// id-source-test: ids beside the end of their range, while some are in use.
#include "../../common/id_source.h"

#include <cstdio>
#include <set>

int main() {
    const std::set<uint32_t> used{UINT32_MAX, 1, 2, 4};
    svc::IdSource ids(UINT32_MAX - 1);
    for (int i = 0; i < 4; i++) std::printf("%u ", ids.next([&](uint32_t id) { return used.count(id) > 0; }));
    std::printf("\n");
    return 0;
}
