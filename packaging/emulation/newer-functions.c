/* What the C library has from 2.38 on, for an emulator that has an older one. The numbers that are read are those of C17. */
#include <stdlib.h>

long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }
