#include "options.h"

#include "failure.h"

namespace svc {

namespace {

// As many MiB as fit in a byte count of 64 bits with room to spare; no limit in seconds comes near it.
constexpr uint64_t max_number = uint64_t{1} << 40;

uint64_t parse_number(const std::string & name, const std::string & text) {
    if (text.empty() || text.size() > 13 || text.find_first_not_of("0123456789") != std::string::npos)
        throw Failure(name + " needs a whole number, not '" + text + "'");
    const auto value = std::stoull(text);
    if (value > max_number) throw Failure(name + " must not exceed " + std::to_string(max_number));
    return value;
}

void set_option(Options & options, const std::string & name, const std::string & value) {
    if (name == "--memory-mib") options.memory_mib = parse_number(name, value);
    else if (name == "--address-space-mib") options.address_space_mib = parse_number(name, value);
    else if (name == "--cpu-seconds") options.cpu_seconds = parse_number(name, value);
    else if (name == "--read") options.readable.push_back(value);
    else if (name == "--write") options.writable.push_back(value);
    else if (name == "--file-mib") options.file_mib = parse_number(name, value);
    else if (name == "--network" && value == "on") options.has_network = true;
    else if (name == "--network" && value == "listen") options.may_listen = true;
    else if (name == "--device") options.devices.push_back(value);
    else throw Failure("there is no option " + name);
}

}  // namespace

Options parse_options(const std::vector<std::string> & arguments) {
    Options options;
    size_t at = 0;
    for (; at < arguments.size() && arguments[at] != "--"; at += 2) {
        if (at + 1 >= arguments.size()) throw Failure(arguments[at] + " needs a value");
        set_option(options, arguments[at], arguments[at + 1]);
    }
    for (at++; at < arguments.size(); at++) options.command.push_back(arguments[at]);
    if (options.memory_mib == 0 || options.cpu_seconds == 0) throw Failure("--memory-mib and --cpu-seconds are needed");
    if (options.command.empty() || options.command[0].empty() || options.command[0][0] != '/')
        throw Failure("the program's absolute path is needed behind --");
    return options;
}

}  // namespace svc
