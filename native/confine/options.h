#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace svc {

// The command line: --memory-mib N --address-space-mib N --cpu-seconds N [--read PATH]... [--write FOLDER]... [--file-mib N]
// [--network on|listen] [--device PATH]... -- PROGRAM ARGUMENT...
struct Options {
    uint64_t memory_mib = 0;         // private memory
    uint64_t address_space_mib = 0;  // 0: not limited, for drivers that reserve more than there is
    uint64_t cpu_seconds = 0;
    std::vector<std::string> readable;  // files, and folders with all below them
    std::vector<std::string> writable;  // folders in which files are read, written, made and removed
    uint64_t file_mib = 0;              // the most that one file in them may have
    bool has_network = false;
    bool may_listen = false;           // whoever connects is answered, and nobody is asked
    std::vector<std::string> devices;  // opened for reading and writing
    std::vector<std::string> command;  // the program's absolute path first
};

// Throws Failure for what it does not know or cannot read as a number in range.
Options parse_options(const std::vector<std::string> & arguments);

}  // namespace svc
