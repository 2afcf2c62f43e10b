import { testUploadContract } from './test-support/upload-contract.ts';

testUploadContract(async () => undefined);
