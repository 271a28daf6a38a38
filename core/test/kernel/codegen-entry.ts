/** What the child process of codegen.test.ts loads: the kernel alone, from its sources. */
export { isTaplineError } from '../../src/errors.ts'
export { createKernel } from '../../src/kernel/index.ts'
