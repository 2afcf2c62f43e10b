/** Names for general.file_type: include/llama.h of llama.cpp, enum llama_ftype; gaps are numbers that were withdrawn. */
const names: readonly (string | undefined)[] = [
  ...['F32', 'F16', 'Q4_0', 'Q4_1', undefined, undefined, undefined, 'Q8_0', 'Q5_0', 'Q5_1'],
  ...['Q2_K', 'Q3_K_S', 'Q3_K_M', 'Q3_K_L', 'Q4_K_S', 'Q4_K_M', 'Q5_K_S', 'Q5_K_M', 'Q6_K', 'IQ2_XXS'],
  ...['IQ2_XS', 'Q2_K_S', 'IQ3_XS', 'IQ3_XXS', 'IQ1_S', 'IQ4_NL', 'IQ3_S', 'IQ3_M', 'IQ2_S', 'IQ2_M'],
  ...['IQ4_XS', 'IQ1_M', 'BF16', undefined, undefined, undefined, 'TQ1_0', 'TQ2_0', 'MXFP4_MOE', 'NVFP4'],
  ...['Q1_0', 'Q2_0'],
];

export function fileTypeName(fileType: number): string | undefined {
  return names[fileType];
}
