// Calls whose arguments stand one by one, strings without quotation marks and escapes. llama.cpp's grammars of such calls follow
// the schema of each argument but a string, which may be any text.
#pragma once

#include <string>

#include "chat.h"
#include "peg-parser.h"

namespace svc {

// How much of a tool's schema the grammar of a chat format's calls follows.
enum class CallArguments {
    Json,    // all of it: the arguments are one JSON object
    Tagged,  // the names and, as JSON, all values but strings
    Free,    // little or nothing: the format has a notation of its own
};

// Tries it with a tool. Where the template fails with tools, it is Json: no call is ever read then.
CallArguments call_arguments_of(const common_chat_templates * templates);

// The member of a tool's followed schema that has these grammars, by the names of arguments: {"gbnf": text, "isOpen": bool}.
// An open one is what the string begins with; what follows is free. None of its strings holds "</".
constexpr const char * kRawStrings = "x-strings";

// The grammar of calls with such strings. `parser` reads the calls, and `grammar` was made of it; `strings` are by tool and
// argument. Leaves those as they are that the format ends otherwise than with a closing tag.
std::string follow_strings(const common_peg_arena & parser, const std::string & grammar, const common_json & strings);

}  // namespace svc
