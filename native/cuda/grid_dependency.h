// Included before every CUDA file where the toolkit is older than 12: its headers lack the two device functions with which
// kernels of Hopper and newer start while the one before still runs, though its assembler knows their instructions (PTX ISA 7.8,
// griddepcontrol).
#pragma once

#if defined(__CUDACC__) && __CUDACC_VER_MAJOR__ < 12

static __device__ __forceinline__ void cudaGridDependencySynchronize() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

#endif
