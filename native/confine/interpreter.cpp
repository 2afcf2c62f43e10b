#include "interpreter.h"

#include <elf.h>

#include <climits>
#include <cstring>
#include <fstream>

#include "failure.h"

namespace svc {

namespace {

template <typename Record> Record read_at(std::ifstream & file, uint64_t offset, const std::string & program) {
    Record record{};
    file.seekg(static_cast<std::streamoff>(offset));
    if (!file.read(reinterpret_cast<char *>(&record), sizeof record)) throw Failure(program + " is not an ELF program");
    return record;
}

std::string read_name(std::ifstream & file, const Elf64_Phdr & header, const std::string & program) {
    if (header.p_filesz == 0 || header.p_filesz > PATH_MAX) throw Failure(program + " names no loader");
    std::string name(header.p_filesz - 1, '\0');
    file.seekg(static_cast<std::streamoff>(header.p_offset));
    if (!file.read(name.data(), static_cast<std::streamsize>(name.size()))) throw Failure(program + " names no loader");
    return name;
}

}  // namespace

std::string interpreter_of(const std::string & program) {
    std::ifstream file(program, std::ios::binary);
    if (!file) throw system_failure("cannot open " + program);
    const auto header = read_at<Elf64_Ehdr>(file, 0, program);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        throw Failure(program + " is not a 64-bit ELF program");
    for (unsigned i = 0; i < header.e_phnum; i++) {
        const auto segment = read_at<Elf64_Phdr>(file, header.e_phoff + uint64_t{i} * header.e_phentsize, program);
        if (segment.p_type == PT_INTERP) return read_name(file, segment, program);
    }
    return "";
}

}  // namespace svc
