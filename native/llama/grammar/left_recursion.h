// Finds rules that would be entered for ever.
#pragma once

#include "gbnf.h"

namespace svc {

// Whether a rule may begin with itself, at once or through others, with something left to do behind it each time. A rule that
// only ends with itself, as in ((x?)*)*, is harmless: it comes back to where it was.
bool has_left_recursion(const GrammarRules & grammar);

}  // namespace svc
