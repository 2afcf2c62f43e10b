// A library with the name of NVIDIA's driver library, and one of its functions: the driver is there.
extern "C" int cuInit(unsigned);
extern "C" int cuInit(unsigned) { return 0; }
