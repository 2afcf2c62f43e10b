// The only file that includes napi.h, so that every translation unit sees the same settings.
#pragma once

// NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS, NAPI_VERSION and NODE_ADDON_API_CPP_EXCEPTIONS_ALL come from CMakeLists.txt.
#include <napi.h>
